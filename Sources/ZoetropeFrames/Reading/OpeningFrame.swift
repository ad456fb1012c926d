internal import Synchronization

/// The pixels of a frame that was decoded while its image was opened, kept for the first reader. Copies of the image
/// share them.
///
/// The pixels are charged like frames decoded ahead until they are used, and are not kept if there is no room.
final class OpeningFrame: Sendable {
  private let pixels: Mutex<FramePixels?>
  private let byteCount: Int
  private let memory: DecodeMemory

  /// Takes over `pixels`. Returns nil if `memory` has no room.
  init?(_ pixels: FramePixels, memory: DecodeMemory) {
    byteCount = pixels.storage.byteCount
    guard memory.reserve(byteCount) else { return nil }
    self.memory = memory
    self.pixels = Mutex(pixels)
  }

  deinit { _ = take() }

  /// Returns the pixels on the first call, nil afterwards.
  func take() -> FramePixels? {
    pixels.withLock { kept in
      guard let pixels = kept else { return nil }
      kept = nil
      memory.charge(-byteCount)
      return pixels
    }
  }
}
