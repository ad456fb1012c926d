/// Encodes bitmaps as PNG files, each in the smallest lossless form that is cheap to find.
///
/// A picture with 8 bits per sample and up to 256 colours becomes a palette or grey picture of 1, 2, 4 or 8 bits,
/// unless that takes more bytes. Any other picture becomes an RGB picture if it is opaque, and otherwise a picture with
/// an alpha channel, either grey or RGBA. Pictures with 16 bits per sample keep their 16 bits; those that are opaque
/// and grey become grey pictures. Decoding returns exactly the original pixels, including the colours of transparent
/// pixels.
///
/// An encoder is not `Sendable` and has one owner at a time. It keeps its working memory, which has about the size of
/// three pictures, for the next picture. To encode many pictures in parallel, use one encoder per thread.
public final class PNGEncoder {
  private let scanlines: ScanlineCompressor
  private let metadata: PNGMetadataChunks
  /// The maximum number of data bytes in one IDAT chunk. The default is PNG's limit. A picture of noise can exceed it
  /// even when compressed.
  var dataLimit = PNGChunks.dataLimit
  private let indexer = ColorIndexer()

  /// Creates an encoder that adds `metadata` to each file: the colour space, the profile, the density, Exif and texts.
  /// Working memory is allocated when the first picture is encoded.
  public init(effort: EncodingEffort = .balanced, metadata: AnimationMetadata? = nil) {
    scanlines = ScanlineCompressor(effort: effort)
    self.metadata = metadata.map { PNGMetadataChunks($0) } ?? PNGMetadataChunks()
  }

  /// Encodes `bitmap` as a PNG file.
  ///
  /// Encoding takes about 10 to 40 nanoseconds per pixel at the default effort.
  ///
  /// - Throws: ``AnimatedImageError/Code/parameter`` if the bitmap has no pixels or has premultiplied alpha, which PNG
  ///   does not support; ``AnimatedImageError/Code/limitExceeded`` if the bitmap is too large for PNG;
  ///   ``AnimatedImageError/Code/outOfMemory`` if allocation fails.
  public func encode(_ bitmap: Bitmap) throws(AnimatedImageError) -> [UInt8] {
    try encode(bitmap, in: PixelRect(bitmap.size))
  }

  /// Encodes the part of `bitmap` inside `rect`, which must lie within the bitmap.
  ///
  /// - Parameter isCancelled: A closure that is polled between attempts to compress the picture. Once it returns true,
  ///   this method throws `cancelled`.
  package func encode(
    _ bitmap: Bitmap, in rect: PixelRect, isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) -> [UInt8] {
    guard !rect.isEmpty else {
      throw AnimatedImageError(.parameter, "a picture without pixels cannot be written")
    }
    precondition(PixelRect(bitmap.size).contains(rect))
    let mostPixels = 0x7fff_ffff / 8
    guard rect.size.area <= mostPixels else {
      throw .exceeding(
        .pngPixels, found: rect.size.area, allowed: mostPixels,
        "a picture of \(rect.size) is too large for a PNG")
    }
    let isDeep = bitmap.format == .rgba16
    let bitmap = try isDeep ? bitmap : bitmap.straightRGBA()
    let allowsGrey = metadata.profile.isEmpty || metadata.profileIsGrey
    if !isDeep {
      let lines = try scanlines.reserve((rect.width + 1) * rect.height)
      // Grey with alpha keeps a profile for grey, which a palette could not.
      let (isOpaque, isGrey) =
        metadata.profileIsGrey ? PixelPacking.survey(bitmap, rect) : (true, false)
      if isOpaque || !isGrey,
        let found = try indexer.index(bitmap, rect, into: lines, isCancelled: isCancelled),
        let table = ColorTable(found: found, area: rect.size.area, allowsGrey: allowsGrey)
      {
        PixelPacking.pack(
          lines, width: rect.width, height: rect.height, remap: table.remap,
          depth: table.form.bitDepth)
        return try file(rect.size, table.form, table, isCancelled)
      }
    }
    let (isOpaque, isGrey) = PixelPacking.survey(bitmap, rect)
    let type: PNGForm.ColorType =
      switch (isOpaque, isGrey && allowsGrey) {
      // Opaque grey pictures of 8 bits have a colour table, unless they are tiny.
      case (true, let isGrey): isGrey && isDeep ? .grey : .rgb
      case (false, let isGrey): isGrey ? .greyAlpha : .rgba
      }
    let form = PNGForm(colorType: type, bitDepth: isDeep ? 16 : 8)
    let count = (form.rowBytes(width: rect.width) + 1) * rect.height
    let lines = try scanlines.reserve(count)
    if isDeep {
      PixelPacking.writeDeep(bitmap, rect, as: type, into: lines)
    } else {
      PixelPacking.write(bitmap, rect, as: type, into: lines)
    }
    return try file(rect.size, form, nil, isCancelled)
  }

  /// Compresses the scanlines and returns a PNG file that contains them.
  private func file(
    _ size: PixelSize, _ form: PNGForm, _ table: ColorTable?, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> [UInt8] {
    let count = try scanlines.pack(size, form, isCancelled: isCancelled)
    let capacity = count + 12 * (count / dataLimit) + 4096
    var chunks = try PNGChunks(asking: capacity)
    chunks.append(raw: PNGScanner.signature)
    chunks.append(header: size, form)
    chunks.append(metadata, form, table)
    chunks.append("IDAT", scanlines.packed, count: count, limit: dataLimit)
    chunks.append("IEND", [])
    return chunks.bytes
  }
}
