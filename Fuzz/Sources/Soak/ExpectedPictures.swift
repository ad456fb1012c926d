import Synchronization
import Zoetrope

import ZoetropeCaching
import ZoetropeCodec
import ZoetropeCore
import ZoetropeFrames
import ZoetropePlayback
import ZoetropeStore

/// The frames of an image as they have to come out, made one by one and scaled whole.
final class ExpectedPictures: Sendable {
  private let image: AnimatedImage
  private let rendering: Rendering?
  private let made = Mutex<[Int: Bitmap]>([:])

  init(_ image: AnimatedImage, _ rendering: Rendering?) {
    self.image = image
    self.rendering = rendering
  }

  /// Frame `index`; nil when it cannot be decoded.
  subscript(index: Int) -> Bitmap? {
    if let bitmap = made.withLock({ $0[index] }) { return bitmap }
    let reader = FrameReader(image)
    guard var bitmap = try? reader.frame(at: index).bitmap else { return nil }
    if let rendering, let target = rendering.target {
      let scaled = try? bitmap.scaled(to: target, fit: rendering.fit, filter: rendering.filter)
      guard let scaled else { return nil }
      bitmap = scaled
    }
    made.withLock { $0[index] = bitmap }
    return bitmap
  }

  /// Pixels outside of `rect` in which two frames differ.
  static func differences(_ left: Bitmap, _ right: Bitmap, outside rect: PixelRect) -> Int {
    var count = 0
    for y in 0..<left.height {
      let isRow = (rect.y..<rect.maxY).contains(y)
      for x in 0..<left.width where !(isRow && (rect.x..<rect.maxX).contains(x)) {
        if left[x, y] != right[x, y] { count += 1 }
      }
    }
    return count
  }
}
