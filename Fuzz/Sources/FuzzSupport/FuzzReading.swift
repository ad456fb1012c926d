internal import Zoetrope

@testable internal import ZoetropeCore
@testable internal import ZoetropeFrames
@testable internal import ZoetropeTestSupport

/// Opens an input as a user would and reads it, and checks what holds for every file.
public enum FuzzReading {
  /// Reads every frame forwards, then one again by a jump, which has to give the same picture.
  public static func read(_ bytes: [UInt8]) {
    let hash = FuzzBytes.hash(bytes)
    let options = RandomEdits.smallLimits(hash)
    guard let image = try? AnimatedImage(bytes: bytes, options: options) else { return }
    FuzzBytes.require(!image.frames.isEmpty, "no frames and no error")
    FuzzBytes.require(image.canvasSize.area <= 1 << 14, "canvas \(image.canvasSize)")
    let reader = FrameReader(image)
    let kept = Int(hash >> 8) % image.frames.count
    var picture: Bitmap?
    var count = 0
    while let frame = try? reader.next() {
      FuzzBytes.require(frame.index == count, "frame \(frame.index) after \(count) frames")
      FuzzBytes.require(frame.bitmap.size == image.canvasSize, "\(frame.bitmap.size)")
      check(frame.damage, image, bytes.count)
      if count == kept { picture = frame.bitmap }
      count += 1
    }
    for damage in image.damage { check(damage, image, bytes.count) }
    FuzzBytes.require(
      image.options.damage == .strict || count == image.frames.count,
      "\(count) of \(image.frames.count) frames")
    guard let picture else { return }
    let again = try? reader.frame(at: kept).bitmap
    FuzzBytes.require(again == picture, "frame \(kept) is another one after a jump")
    if image.staticImage != nil { _ = try? image.renderStaticBitmap() }
  }

  private static func check(_ damage: Damage?, _ image: AnimatedImage, _ count: Int) {
    guard let damage else { return }
    FuzzBytes.require((0...count).contains(damage.byteOffset), "\(damage) of \(count) bytes")
    if let rows = damage.validRows, let index = damage.frameIndex, index < image.frames.count {
      let height = image.frames[index].rect.height
      FuzzBytes.require((0...height).contains(rows), "\(damage): \(rows) of \(height) rows")
    }
  }
}
