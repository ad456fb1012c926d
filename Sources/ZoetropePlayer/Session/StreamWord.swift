import Zoetrope
import ZoetropeProcess

/// The messages of the player about streams.
enum StreamWord {
  /// Returns the message for a stream that ended before its animation was complete.
  static func cut(_ progress: StreamProgress, input: InputFile) -> String {
    let frames = "\(progress.frameCount) frame\(progress.frameCount == 1 ? "" : "s")"
    return
      "zoetrope: \(input.name.sanitized): cut short after \(progress.byteCount) bytes, \(frames)\n"
  }
}
