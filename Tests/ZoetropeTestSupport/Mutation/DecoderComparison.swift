package import Zoetrope

/// Compares the fast decoders with giflib and libpng, file by file and frame by frame.
package struct DecoderComparison {
  /// Files of the format that opened.
  package private(set) var opened = 0
  /// Frames that both decoded.
  package private(set) var frames = 0
  /// Frames that lost pixels.
  package private(set) var brokenFrames = 0
  /// Frames with a reserved deflate code but correct checksums, which only libdeflate accepts.
  package private(set) var reservedCodes = 0
  /// The number of pixels that both yielded, all of them equal.
  package private(set) var pixels = 0

  package init() {}

  /// Small limits: large files would take long and exercise no other code.
  package static func options(keeps16Bit: Bool) -> DecodingOptions {
    var options = DecodingOptions(
      damage: .partialRows, keeps16Bit: keeps16Bit, parallelism: 1)
    options.limits.canvasPixels = 1 << 14
    options.limits.pixelsPerPlay = 1 << 17
    options.limits.frameCount = 40
    options.limits.metadataBytes = 1 << 12
    return options
  }

  /// Decodes every frame of `bytes` both ways; returns the first difference, or nil. A file that does not open has no
  /// differences.
  package mutating func difference(
    in bytes: [UInt8], options: DecodingOptions
  ) -> String? {
    guard let image = try? AnimatedImage(bytes: bytes, options: options) else { return nil }
    opened += 1
    return difference(in: image)
  }

  /// Decodes every frame of `image` both ways; returns the first difference, or nil.
  package mutating func difference(in image: AnimatedImage) -> String? {
    var decoders = [PixelDecoder.fast, .reference].map { decoder in
      var options = image.options
      options.decoder = decoder
      return FrameDecoder(header: image.header, options: options)
    }
    let pair = (FramePixels(), FramePixels())
    for control in image.frames + [image.staticImage].compactMap({ $0 }) {
      do throws(AnimatedImageError) {
        try decoders[0].decode(control, from: image.source, into: pair.0)
        try decoders[1].decode(control, from: image.source, into: pair.1)
      } catch {
        return "frame \(control.index): \(error)"
      }
      frames += 1
      if pair.0.content.validPixels < control.rect.size.area { brokenFrames += 1 }
      let found =
        image.format == .gif
        ? differentIndices(pair.0, pair.1)
        : differentPicture(pair.0, pair.1, control, image.options.canvasFormat)
      if let found { return "frame \(control.index): \(found)" }
    }
    return nil
  }

  /// GIF: rows that giflib yields equal those of the fast decoder. The fast decoder may yield none where giflib
  /// accepts more than browsers do (a code past the next free one), and giflib yields nothing of a broken row.
  private mutating func differentIndices(_ fast: FramePixels, _ giflib: FramePixels) -> String? {
    let rows = giflib.content.validPixels / max(giflib.content.width, 1)
    let own = fast.content.validPixels / max(fast.content.width, 1)
    let isBadCode = fast.damage?.kind == .lzwInvalidCode
    if own < rows && !isBadCode || own > rows && fast.damage == nil {
      return
        "\(own) of \(fast.content.height) rows, giflib \(rows), \(fast.damage, default: "sound")"
    }
    if fast.palette != giflib.palette
      || fast.content.transparentIndex != giflib.content.transparentIndex
    {
      return "other colours"
    }
    for row in 0..<min(rows, own) where !Self.areEqual(fast, giflib, row: row) {
      return "row \(row) of \(fast.content.height)"
    }
    pixels += min(rows, own) * fast.content.width
    return nil
  }

  private static func areEqual(_ fast: FramePixels, _ giflib: FramePixels, row: Int) -> Bool {
    let (left, right) = (fast.storage, giflib.storage)
    let (own, other) = (
      fast.content.offset + row * fast.content.bytesPerRow,
      giflib.content.offset + row * giflib.content.bytesPerRow
    )
    let theirs = right.bytes.extracting(other..<other + fast.content.width)
    return left.bytes.extracting(own..<own + fast.content.width).hasSameBytes(as: theirs)
  }

  /// PNG: the same rows, the same losses, and the same picture on an empty canvas. Of harmless deviations, only the
  /// fast decoder reports a wrong Adler-32 and indices past the palette. zlib stops at a reserved deflate code; if
  /// all checksums are correct, the fast decoder also yields the rest.
  private mutating func differentPicture(
    _ fast: FramePixels, _ libpng: FramePixels, _ control: FrameControl, _ format: PixelFormat
  ) -> String? {
    let damage = "\(fast.damage, default: "sound"); libpng \(libpng.damage, default: "sound")"
    let isSound = [fast, libpng].map { $0.damage?.kind.isTolerated ?? true }
    let takesReserved = isSound[0] && libpng.damage?.kind == .pngStream
    if takesReserved {
      reservedCodes += 1
    } else if fast.content.validPixels != libpng.content.validPixels {
      return "other rows: \(damage)"
    } else if fast.damage?.kind != libpng.damage?.kind, isSound != [true, true] {
      return damage
    }
    let atOrigin = FrameControl(
      index: 0, rect: PixelRect(control.rect.size), delay: control.delay, disposal: .keep,
      blend: .source, isIndependent: true, isInterlaced: false, palette: control.palette,
      byteRange: control.byteRange)
    var pictures: [Bitmap] = []
    for pixels in [fast, libpng] {
      do {
        var compositor = try Compositor(
          size: control.rect.size, format: format == .rgba16 ? .rgba16 : .rgba8)
        _ = try compositor.draw(pixels, atOrigin)
        pictures.append(compositor.canvas.bitmap)
      } catch {
        return "\(error)"
      }
    }
    let count = libpng.content.validPixels / max(libpng.content.width, 1) * pictures[1].bytesPerRow
    let (own, theirs) = (pictures[0].storage, pictures[1].storage)
    let rows = theirs.bytes.extracting(first: count)
    guard own.bytes.extracting(first: count).hasSameBytes(as: rows) else {
      return "other pixels: \(damage)"
    }
    pixels += libpng.content.validPixels
    return nil
  }
}
