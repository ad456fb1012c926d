import Zoetrope

/// A transparent bitmap of `width` × `height`.
func makeBitmap(_ width: Int = 16, _ height: Int = 16) -> Bitmap {
  PixelBuffer(size: PixelSize(width: width, height: height)).finish()
}

/// The key of a made-up image, told from others by `number`.
func makeAnimation(_ number: Int, width: Int = 16, height: Int = 16) -> AnimationKey {
  AnimationKey(
    content: ContentIdentity(high: UInt64(number), low: 7),
    rendition: .canvas(PixelSize(width: width, height: height)))
}

/// A small generator, so that random tests repeat: xorshift64*.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed | 1 }
  mutating func next() -> UInt64 {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return state &* 0x2545_f491_4f6c_dd1d
  }
}
