internal import Zoetrope

/// Makes pictures as small as a terminal shows them, where it would leave out pixels to do so.
///
/// Terminals shrink images by picking pixels, which breaks text and thin lines, and what they leave
/// out is sent for nothing. Keeps the last result, so that only what changes is worked out again.
struct PictureShrinker: Sendable {
  /// The size of the results.
  let size: PixelSize
  private let part: PixelRect
  private let scaler: FrameScaler
  private var last: Bitmap?

  /// A shrinker of `part` of each picture to at most `room`; nil when it fits as it is.
  init?(of part: PixelRect, to room: PixelSize) {
    size = PixelSize(
      width: min(part.width, max(room.width, 1)), height: min(part.height, max(room.height, 1)))
    guard size != part.size else { return nil }
    self.part = part
    scaler = FrameScaler(from: part.size, to: size)
  }

  /// Forgets the last result, as when another picture was shown since.
  mutating func forget() { last = nil }

  /// `bitmap` at ``size``, and where that differs from the picture before.
  ///
  /// `previous` is the picture before, which differs from `bitmap` in `changed` at most.
  mutating func shrink(
    _ bitmap: Bitmap, after previous: Bitmap?, changed: PixelRect
  ) -> (bitmap: Bitmap, difference: FrameDifference?) {
    let picture = cropped(bitmap)
    guard let previous else {
      let result = scaler.scale(picture)
      last = result
      return (result, nil)
    }
    let before = last ?? scaler.scale(cropped(previous))
    let inside = changed.intersection(part)
    let dirty = PixelRect(
      x: inside.x - part.x, y: inside.y - part.y, width: inside.width, height: inside.height)
    let (result, touched) = scaler.rescale(picture, previous: before, dirty: dirty)
    last = result
    return (result, FrameDifference(from: before, to: result, within: touched))
  }

  private func cropped(_ bitmap: Bitmap) -> Bitmap {
    if part == PixelRect(bitmap.size) { return bitmap }
    return Bitmap(size: part.size) { y, bytes in
      let source = bitmap.pixels(row: part.y + y)
      for x in 0..<part.width {
        bytes.storeBytes(
          of: source[part.x + x].word.littleEndian, toByteOffset: x * 4, as: UInt32.self)
      }
    }
  }
}
