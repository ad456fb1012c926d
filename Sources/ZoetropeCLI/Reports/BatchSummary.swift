import Zoetrope
import ZoetropeProcess

/// The outcome of a command for all of its inputs.
struct BatchSummary: Hashable {
  private var counts: [InputCondition: Int] = [:]
  /// The number of frames written, or the number of frames decoded if the command writes none.
  private(set) var frameCount = 0
  /// The number of bytes written, or nil if the command writes no frames.
  private(set) var byteCount: Int?

  init(writes: Bool = false) { byteCount = writes ? 0 : nil }

  var fileCount: Int { counts.values.reduce(0, +) }

  /// Whether no damage was found in any input.
  var isWhole: Bool { counts.keys.allSatisfy { $0 == .ok } }

  mutating func add(_ condition: InputCondition, frames: Int = 0, bytes: Int = 0) {
    counts[condition, default: 0] += 1
    frameCount += frames
    byteCount = byteCount.map { $0 + bytes }
  }

  /// The summary as one line, such as `500 files: 403 ok, 44 damaged, 53 unreadable; 3,300 frames, 39 MB`.
  ///
  /// - Parameter skipped: The number of inputs that were not reached.
  func text(skipped: Int = 0) -> String {
    var parts = InputCondition.allCases.compactMap { condition in
      counts[condition].map { "\($0.grouped) \(condition.rawValue)" }
    }
    if skipped > 0 { parts.append("\(skipped.grouped) not reached") }
    let fileCount = fileCount + skipped
    var text = "\(fileCount.grouped) file\(fileCount == 1 ? "" : "s"): "
    text += parts.joined(separator: ", ")
    text += "; \(frameCount.grouped) frame\(frameCount == 1 ? "" : "s")"
    if let byteCount { text += ", \(byteCount.byteSize)" }
    return text
  }

  /// Writes the summary as fields of the current JSON object.
  ///
  /// - Parameter skipped: The number of inputs that were not reached.
  func write(to json: inout JSONWriter, skipped: Int = 0) {
    json.field("phase", "summary")
    json.field("files", fileCount)
    json.field("ok", counts[.ok, default: 0])
    json.field("damaged", counts[.damaged, default: 0])
    json.field("unreadable", counts[.unreadable, default: 0])
    json.field("failed", counts[.failed, default: 0])
    json.field("not_reached", skipped)
    json.field("frames", frameCount)
    json.field("bytes", byteCount)
  }
}
