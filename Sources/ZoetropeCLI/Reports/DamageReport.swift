import Zoetrope

/// What `check` says about one file: everything was decoded, and this was wrong.
struct DamageReport {
  static let schema = "zoetrope.check/2"

  let input: InputFile
  let format: AnimationFormat
  let frameCount: Int
  let damage: [Damage]

  /// What tells one item from another.
  private struct Place: Hashable {
    let kind: String
    let frameIndex: Int32
    let byteOffset: Int

    init(_ damage: Damage) {
      kind = damage.kind.name
      frameIndex = Int32(clamping: damage.frameIndex ?? -1)
      byteOffset = damage.byteOffset
    }
  }

  /// Decodes every frame of `image`, with a bar on a terminal meanwhile.
  init(of image: AnimatedImage, input: InputFile) throws(CommandFailure) {
    var damage = image.damage
    // A file may report a hundred thousand things: each is looked up, not searched for, and by as
    // little as tells it apart, since they are all in memory.
    var known = Set(damage.lazy.map(Place.init))
    let reader = FrameReader(image)
    var progress = ProgressReporter(style: .auto, total: image.frames.count)
    var count = 0
    defer { progress.finish((count, nil)) }
    do throws(AnimatedImageError) {
      while SignalFlag.status == nil, let frame = try reader.next() {
        if let item = frame.damage, known.insert(Place(item)).inserted { damage.append(item) }
        count += 1
        progress.update((count, nil))
      }
    } catch {
      throw CommandFailure(error, file: input.name, damage: image.options.damage)
    }
    if let status = SignalFlag.status {
      throw CommandFailure(status, code: "interrupted", "interrupted", file: input.name)
    }
    self.input = input
    format = image.format
    frameCount = image.frames.count
    self.damage = damage
  }

  /// Whether something was lost.
  var hasLosses: Bool { damage.contains { !$0.kind.isTolerated } }

  func status(isStrict: Bool) -> ExitStatus {
    if isStrict { return damage.isEmpty ? .success : .damaged }
    return hasLosses ? .partial : .success
  }

  /// What is the same thing, wherever it is.
  private struct Remark: Hashable {
    let kind: String
    let detail: String
    let validRows: Int?

    init(_ damage: Damage) {
      (kind, detail, validRows) = (damage.kind.name, damage.detail, damage.validRows)
    }
  }

  /// A line for the file and one for each remark: equal ones are told where they come first, with
  /// how many there are.
  var text: String {
    let verdict = damage.isEmpty ? "ok" : hasLosses ? "damaged" : "ok, with deviations"
    let frames = "\(frameCount) frame\(frameCount == 1 ? "" : "s")"
    var text = "\(input.name.sanitized): \(verdict), \(frames)\n"
    let counts = damage.reduce(into: [Remark: Int]()) { $0[Remark($1), default: 0] += 1 }
    var told: Set<Remark> = []
    for item in damage where told.insert(Remark(item)).inserted {
      text += "  \(item.kind.isTolerated ? "tolerated" : "lost     ") \(item)".sanitized
      if let rows = item.validRows { text += ", \(rows) rows are good" }
      let count = counts[Remark(item), default: 1]
      if count > 1 { text += ", and \(count - 1) more such" }
      text += "\n"
    }
    return text
  }

  /// Writes the report as one object of ``schema``.
  func write(to json: inout JSONWriter) {
    json.object {
      $0.field("schema", Self.schema)
      $0.field("file", input.fileName, base64Key: "file_base64")
      $0.field("format", format.rawValue)
      $0.field("frame_count", frameCount)
      $0.field("status", damage.isEmpty ? "ok" : hasLosses ? "damaged" : "deviations")
      $0.array("damage") { for item in damage { AnimationReport.write(item, to: &$0) } }
    }
  }
}
