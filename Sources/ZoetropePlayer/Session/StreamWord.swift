import Zoetrope
import ZoetropeProcess

/// The messages of the player about streams.
enum StreamWord {
  /// Returns the message for a stream that ended before its animation was complete.
  static func cut(_ progress: StreamProgress, input: InputFile) -> String {
    "zoetrope: \(input.name.sanitized): cut short after \(progress.byteCount) bytes, "
      + "\(progress.frameCount.counted("frame"))\n"
  }
}
