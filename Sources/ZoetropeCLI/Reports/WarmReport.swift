import Zoetrope
import ZoetropeProcess

/// The report of `cache warm` about one file.
struct WarmReport {
  static let schema = "zoetrope.warm/2"

  let input: InputFile
  let rendition: Rendition
  let frameCount: Int
  /// The number of frames that were already in the store.
  var known = 0
  /// The number of frames that were decoded and stored.
  var stored = 0
  /// The number of frames that are in the store now.
  var kept = 0
  /// Whether the limit of the store has room for all frames.
  var hadRoom = true
  /// The number of frames whose own data is damaged, so that pixels were lost.
  private var damagedCount = 0

  init(input: InputFile, rendition: Rendition, frameCount: Int) {
    (self.input, self.rendition, self.frameCount) = (input, rendition, frameCount)
  }

  /// The exit status. Frames that are not in the store count as an exceeded limit: either the limit of the store left
  /// no room for them, or other programs were using the slots for them or have evicted them.
  var status: ExitStatus { kept < frameCount ? .limit : .success }

  /// Whether pixels of a frame were lost.
  var isDamaged: Bool { damagedCount > 0 }

  /// Counts the damage of a frame, which is nil if the frame is intact.
  mutating func note(_ damage: Damage?) {
    if let damage, !damage.kind.isTolerated { damagedCount += 1 }
  }

  /// The report as one line of text.
  var text: String {
    let name = input.name.sanitized
    let frames = frameCount.counted("frame")
    let damaged = isDamaged ? ", \(damagedCount) damaged" : ""
    let cached = "in the cache at \(rendition.size), \(stored) of them new\(damaged)"
    if kept == frameCount { return "\(name): \(frames) \(cached)\n" }
    // A table keeps the number of slots with which it was created.
    let advice =
      hadRoom
      ? "the frames of this size were first cached with a smaller limit; clear the cache to fit more"
      : "raise --cache-limit to fit more"
    return "\(name): \(kept) of \(frames) \(cached); \(advice)\n"
  }

  /// Writes the report as one JSON object of ``schema``.
  func write(to json: inout JSONWriter) {
    json.object {
      $0.field("schema", Self.schema)
      $0.field("file", input.fileName, base64Key: "file_base64")
      $0.field("width", rendition.size.width)
      $0.field("height", rendition.size.height)
      $0.field("pixel_format", "\(rendition.format)")
      $0.field("frame_count", frameCount)
      $0.field("stored", stored)
      $0.field("known", known)
      $0.field("kept", kept)
      $0.field("damaged", damagedCount)
    }
  }
}
