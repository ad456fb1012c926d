import FuzzSupport

@testable import Zoetrope

/// The fast decoders against giflib and libpng: the same bytes, frame by frame.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDifferential(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = unsafe FuzzBytes.copy(data, count)
  var options = FuzzReading.options(FuzzBytes.hash(bytes))
  options.damage = .partialRows
  guard let image = try? AnimatedImage(bytes: bytes, options: options) else { return 0 }
  var fast = FrameWorker(header: image.header, options: options)
  options.decoder = .reference
  var reference = FrameWorker(header: image.header, options: options)
  for record in image.records + [image.staticRecord].compactMap({ $0 }) {
    let (left, right) = (FramePixels(), FramePixels())
    do {
      try fast.decode(record, header: image.header, source: image.source, into: left)
      try reference.decode(record, header: image.header, source: image.source, into: right)
    } catch {
      fatalError("\(error)")
    }
    if image.format == .gif {
      compareIndices(left, right)
    } else {
      comparePictures(left, right, record.control)
    }
  }
  return 0
}

/// GIF: the rows that giflib gives are the ones the fast decoder gives; it may give none where giflib
/// takes more than browsers do (a code past the next free one), and giflib none of a broken row.
private func compareIndices(_ fast: FramePixels, _ giflib: FramePixels) {
  let rows = giflib.validPixels / max(giflib.width, 1)
  let own = fast.validPixels / max(fast.width, 1)
  let description =
    "\(own) of \(fast.height) rows, giflib \(rows), \(fast.damage, default: "sound")"
  if fast.damage?.kind != .lzwInvalidCode {
    FuzzBytes.require(own >= rows, description)
  }
  FuzzBytes.require(own == rows || fast.damage != nil, description)
  for row in 0..<min(rows, own) {
    for column in 0..<fast.width {
      FuzzBytes.require(
        sample(fast, row, column) == sample(giflib, row, column), "pixel \(column) of row \(row)")
    }
  }
  FuzzBytes.require(fast.palette == giflib.palette, "other colours")
}

private func sample(_ pixels: FramePixels, _ row: Int, _ column: Int) -> UInt8 {
  let offset = pixels.offset + row * pixels.bytesPerRow + column
  // Inside the rows that the decoder filled.
  return unsafe pixels.storage.baseAddress.load(fromByteOffset: offset, as: UInt8.self)
}

/// PNG: the same rows, the same losses, and the same picture on an empty canvas. Of what costs
/// nothing, only the fast decoder names a wrong Adler-32 and indices past the palette.
private func comparePictures(
  _ fast: FramePixels, _ libpng: FramePixels, _ control: FrameControl
) {
  let damage = "\(fast.damage, default: "sound"); libpng \(libpng.damage, default: "sound")"
  FuzzBytes.require(fast.validPixels == libpng.validPixels, "other rows: \(damage)")
  let kinds = [fast.damage, libpng.damage].map { $0?.kind }
  FuzzBytes.require(
    kinds[0] == kinds[1] || kinds.allSatisfy { $0?.isTolerated ?? true }, damage)
  let atOrigin = FrameControl(
    index: 0, rect: PixelRect(control.rect.size), delay: control.delay, disposal: .keep,
    blend: .source, isIndependent: true, isInterlaced: false, palette: control.palette,
    byteRange: control.byteRange)
  let pictures = [fast, libpng].map { pixels in
    var compositor = Compositor(size: control.rect.size, format: .rgba8)
    _ = compositor.draw(pixels, atOrigin)
    return compositor.canvas.bitmap
  }
  FuzzBytes.require(pictures[0] == pictures[1], "other pixels: \(damage)")
}

/// Keeps the structure of most inputs, whichever format they have.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutateDifferential(
  _ data: UnsafeMutablePointer<UInt8>, _ count: Int, _ room: Int, _ seed: CUnsignedInt
) -> Int {
  unsafe FuzzMutator.run(data, count, room, seed: seed) {
    GIFMutation.mutate($1, with: &$0) ?? APNGMutation.mutate($1, with: &$0)
  }
}
