import Zoetrope
import ZoetropeProcess

/// The player's messages about streams.
enum StreamWord {
  /// The line for a stream that ended before its animation did.
  static func cut(_ progress: StreamProgress, input: InputFile) -> String {
    let frames = "\(progress.frameCount) frame\(progress.frameCount == 1 ? "" : "s")"
    return
      "zoetrope: \(input.name.sanitized): cut short after \(progress.byteCount) bytes, \(frames)\n"
  }
}
