import Zoetrope
import ZoetropeProcess

/// The report of `check` about a file. All frames have been decoded for it.
struct DamageReport {
  static let schema = "zoetrope.check/3"

  let input: InputFile
  let image: AnimatedImage
  let damage: [Damage]

  var frameCount: Int { image.frames.count }

  /// Creates the report by decoding every frame of `image`.
  init(
    of image: AnimatedImage, input: InputFile, _ progress: ProgressReporter
  ) throws(CommandFailure) {
    var damage = DecodingDamage(of: image)
    let reader = FrameReader(image)
    progress.expect(image.frames.count)
    var count = 0
    defer { progress.finish((count, nil)) }
    do throws(AnimatedImageError) {
      while Signals.ending == nil, let frame = try reader.next() {
        if let item = frame.damage { damage.add(item) }
        count += 1
        progress.update((count, nil))
      }
      // The picture that programs without animation support show is not among the frames of every APNG.
      if Signals.ending == nil, let item = try StoredFrameReader(image).staticImage()?.damage {
        damage.add(item)
      }
    } catch {
      throw CommandFailure(error, file: input.name, damage: image.options.damage)
    }
    if let failure = CommandFailure.interruption(file: input.name) { throw failure }
    self.input = input
    self.image = image
    self.damage = image.damage + damage.items
  }

  /// Whether any data of the file was lost.
  var hasLosses: Bool { damage.contains { !$0.kind.isTolerated } }

  func status(isStrict: Bool) -> ExitStatus {
    if isStrict { return damage.isEmpty ? .success : .damaged }
    return hasLosses ? .partial : .success
  }

  /// The properties that make two items of damage the same finding, wherever they occur.
  private struct Remark: Hashable {
    let kind: String
    let detail: String
    let validRows: Int?

    init(_ damage: Damage) {
      (kind, detail, validRows) = (damage.kind.name, damage.detail, damage.validRows)
    }
  }

  /// The report as text: a line for the file, then a line for each finding, with the position of its first occurrence
  /// and the number of the others.
  var text: String {
    let verdict = damage.isEmpty ? "ok" : hasLosses ? "damaged" : "ok, with deviations"
    var text = "\(input.name.sanitized): \(verdict), \(frameCount.counted("frame"))\n"
    let counts = damage.reduce(into: [Remark: Int]()) { $0[Remark($1), default: 0] += 1 }
    var told: Set<Remark> = []
    for item in damage where told.insert(Remark(item)).inserted {
      text += "  \(item.kind.isTolerated ? "tolerated" : "lost     ") \(item.sentence)".sanitized
      if let rows = item.validRows {
        text += rows == 1 ? ", 1 row is good" : ", \(rows) rows are good"
      }
      let count = counts[Remark(item), default: 1]
      if count > 1 { text += ", and \(count - 1) more like it" }
      // The documentation lists the finding under this name.
      text += " [\(item.kind.name)]"
      text += "\n"
    }
    return text
  }

  /// Writes the report as one JSON object of ``schema``.
  func write(to json: inout JSONWriter) {
    json.object {
      $0.field("schema", Self.schema)
      $0.field("file", input.fileName, base64Key: "file_base64")
      $0.field("format", image.format.rawValue)
      $0.field("byte_count", image.byteCount)
      $0.field("width", image.canvasSize.width)
      $0.field("height", image.canvasSize.height)
      $0.field("frame_count", frameCount)
      AnimationReport.write(image.playCount, to: &$0)
      AnimationReport.writeDuration(
        stored: image.frames.duration(.exact), shown: image.frames.duration(.browser), .browser,
        to: &$0)
      $0.field("status", InputCondition(hasLosses: hasLosses).rawValue)
      $0.field("has_deviations", !damage.isEmpty)
      $0.array("damage") { for item in damage { AnimationReport.write(item, to: &$0) } }
    }
  }
}
