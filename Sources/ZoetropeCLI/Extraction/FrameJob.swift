import SystemPackage
import Zoetrope

/// A composited frame on its way to its output.
struct FrameJob: Sendable {
  /// Its place among the outputs of this file, from 0.
  let place: Int
  let bitmap: Bitmap
  /// Nil for the stream.
  let path: FilePath?
}

/// A frame that was written.
struct WrittenFrame: Hashable, Sendable {
  /// The output's name; `-` for standard output.
  let name: FileName
  let byteCount: Int
}
