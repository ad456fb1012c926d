internal import Synchronization

/// The pixels of a frame that was decoded while its image was opened, kept for the first reader. Copies of the image
/// share these pixels.
///
/// The pixels are charged like frames decoded ahead until they are used. They are not kept if the memory account has no
/// room for them.
final class OpeningFrame: Sendable {
  private let pixels: Mutex<FramePixels?>
  private let byteCount: Int
  private let memory: DecodeMemory

  /// Takes over `pixels`. Returns nil if `memory` has no room for them.
  init?(_ pixels: FramePixels, memory: DecodeMemory) {
    byteCount = pixels.storage.byteCount
    guard memory.reserve(byteCount) else { return nil }
    self.memory = memory
    self.pixels = Mutex(pixels)
  }

  deinit { _ = take() }

  /// Returns the pixels on the first call, and nil on later calls.
  func take() -> FramePixels? {
    pixels.withLock { kept in
      guard let pixels = kept else { return nil }
      kept = nil
      memory.charge(-byteCount)
      return pixels
    }
  }
}
