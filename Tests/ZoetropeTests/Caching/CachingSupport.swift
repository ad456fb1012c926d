import Zoetrope

/// A transparent bitmap of `width` × `height`.
func makeBitmap(_ width: Int = 16, _ height: Int = 16) -> Bitmap {
  PixelBuffer(size: PixelSize(width: width, height: height)).finish()
}

/// The key of a made-up image; `number` distinguishes it from others.
func makeAnimation(_ number: Int, width: Int = 16, height: Int = 16) -> AnimationKey {
  AnimationKey(
    content: ContentIdentity(high: UInt64(number), low: 7),
    rendition: .canvas(PixelSize(width: width, height: height)))
}
