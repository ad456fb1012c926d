import FuzzSupport
import Zoetrope

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// The compositor against a plain one, driven by random operations: frames of every layout, wherever
/// they lie, cut off anywhere, every disposal and blend, resets and resumptions.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCompositor(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do {
    try run(unsafe FuzzBytes.copy(data, count))
  } catch {
    fatalError("\(error)")
  }
  return 0
}

private func run(_ bytes: [UInt8]) throws(AnimatedImageError) {
  var choices = FuzzChoices(bytes)
  let size = PixelSize(width: 1 + choices.below(40), height: 1 + choices.below(12))
  var compositor = try Compositor(size: size, format: .rgba8)
  var plain = PlainCompositor(size: size)
  var shown = plain.pixels
  var kept: (bitmap: Bitmap, pixels: [RGBA])?
  // Whether the canvas is what the next frame is drawn on: not between a reset and that.
  var isShown = true
  while !choices.isEmpty {
    switch choices.below(16) {
    case 0:
      compositor.reset()
      plain = PlainCompositor(size: size)
      shown = plain.pixels
      // Cleared when the next frame is drawn, which may replace all of it, or when it is asked for.
      isShown = false
      if choices.below(2) == 0 { compare(try compositor.disposedCanvas(), plain.pixels) }
    case 1:
      compositor.resume(from: try compositor.disposedCanvas())
      plain.dispose()
      shown = plain.pixels
      isShown = true
    case 2: if isShown { kept = (compositor.canvas.bitmap, plain.pixels) }
    default:
      let frame = PlainFrame(&choices)
      let dirty = try compositor.draw(frame.makePixels(), frame.control)
      plain.draw(frame)
      for y in 0..<size.height {
        for x in 0..<size.width where !dirty.contains(PixelRect(x: x, y: y, width: 1, height: 1)) {
          let place = y * size.width + x
          FuzzBytes.require(shown[place] == plain.pixels[place], "\(x), \(y) not in \(dirty)")
        }
      }
      shown = plain.pixels
      isShown = true
    }
    if isShown { compare(compositor.canvas.bitmap, plain.pixels) }
  }
  // A bitmap that was handed out is nobody else's to change.
  if let kept { compare(kept.bitmap, kept.pixels) }
}

private func compare(_ bitmap: Bitmap, _ pixels: [RGBA]) {
  for y in 0..<bitmap.height {
    for x in 0..<bitmap.width {
      let (got, wanted) = (bitmap[x, y], pixels[y * bitmap.width + x])
      FuzzBytes.require(got == wanted, "\(got) at \(x), \(y), not \(wanted)")
    }
  }
}
