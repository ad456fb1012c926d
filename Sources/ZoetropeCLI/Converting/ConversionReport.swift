import Zoetrope
import ZoetropeProcess

/// What `convert` and `make` tell of one output: a line for people, or an object of JSON.
struct ConversionReport {
  static let schema = "zoetrope.conversion/1"

  /// The input as it was named; nil if there are many.
  var input: InputFile?
  let output: FileName
  let format: AnimationFormatChoice
  /// Bytes of the input, or of all inputs.
  let inputByteCount: Int
  /// Nil if nothing is written.
  var byteCount: Int?
  let size: PixelSize
  let playCount: PlayCount
  let steps: [ConversionStep]
  let departures: [Departure]
  var damage: [Damage] = []
  /// Whether every frame is listed.
  let isPlan: Bool

  private func count(_ action: ConversionStep.Action) -> Int { steps.count { $0.action == action } }

  /// Frames whose compressed pixels are copied.
  private var copiedCount: Int { count(.copied) + count(.patched) }

  /// One line, and for a plan a further one for each run of frames.
  var text: String {
    let source = input.map { "\($0.name.sanitized): " } ?? ""
    var line = "\(source)\(output.text.sanitized), \(format.rawValue.uppercased()), \(size), "
    line += byteCount.map { "\(inputByteCount) -> \($0) bytes\(change($0)), " } ?? ""
    line += "\(steps.count) frame\(steps.count == 1 ? "" : "s"): "
    if input != nil { line += "\(copiedCount) copied, " }
    line += "\(count(.encoded)) encoded; "
    line += departures.isEmpty ? "exact" : departures.map(\.words).joined(separator: ", ")
    return line + "\n" + (isPlan ? ConversionStep.text(steps) : "")
  }

  private func change(_ count: Int) -> String {
    guard inputByteCount > 0 else { return "" }
    let percent = (100 * Double(count) / Double(inputByteCount) - 100).rounded()
    return " (\(percent > 0 ? "+" : "")\(percent == 0 ? "0" : "\(Int(percent))") %)"
  }

  /// A line of JSON.
  var json: [UInt8] {
    CommandRunner.line { json in
      json.object { json in
        json.field("schema", Self.schema)
        if let input { json.field("file", input.fileName, base64Key: "file_base64") }
        json.field("output", output, base64Key: "output_base64")
        json.field("written", byteCount != nil)
        json.field("format", format.rawValue)
        json.field("bytes_before", inputByteCount)
        json.field("byte_count", byteCount)
        json.field("width", size.width)
        json.field("height", size.height)
        json.object("loop") {
          if case .finite(let plays) = playCount {
            $0.field("plays", plays)
          } else {
            $0.field("plays", Int?.none)
          }
          $0.field("forever", playCount == .indefinite)
        }
        json.field("frame_count", steps.count)
        json.field("copied", count(.copied))
        json.field("patched", count(.patched))
        json.field("encoded", count(.encoded))
        json.field("exact", departures.isEmpty)
        json.array("departures") { for item in departures { $0.string(item.code) } }
        json.array("damage") { for item in damage { AnimationReport.write(item, to: &$0) } }
        if isPlan { json.array("frames") { frames(&$0) } }
      }
    }
  }

  private func frames(_ json: inout JSONWriter) {
    for (place, step) in steps.enumerated() {
      json.object { json in
        json.field("index", place)
        json.field("source", step.source)
        json.object("delay") {
          $0.field("num", Int(step.delay.numerator))
          $0.field("den", Int(step.delay.denominator))
        }
        json.field("action", step.action.rawValue)
        if let rect = step.rect { json.field("rect", [rect.x, rect.y, rect.width, rect.height]) }
        if let reason = step.reason { json.field("reason", reason) }
      }
    }
  }
}

/// How a command that writes animations tells what it did.
struct ConversionReporting: Hashable {
  var isJSON = false
  var isQuiet = false
  var progress = ProgressStyle.auto

  /// Tells `report`, on standard error if standard output is the animation itself.
  func tell(
    _ report: ConversionReport, isOutputStandard: Bool
  ) throws(CommandFailure) -> Delivery {
    if isJSON { return try OutputStream.print(report.json, stopsOnSignal: false) }
    if isQuiet, !report.isPlan { return .complete }
    guard isOutputStandard, !report.isPlan else {
      return try OutputStream.print(Array(report.text.utf8), stopsOnSignal: false)
    }
    FileDescriptor.note(report.text)
    return .complete
  }

  func reporter(total: Int) -> ProgressReporter {
    ProgressReporter(style: isQuiet ? .none : progress, total: total, phase: "write")
  }
}
