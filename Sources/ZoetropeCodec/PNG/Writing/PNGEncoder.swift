/// Writes bitmaps as PNG files, each in the smallest lossless form that is cheap to find.
///
/// Pictures of up to 256 colours become palette or grey pictures of 1, 2, 4 or 8 bits. Of the
/// others, opaque pictures lose their alpha channel, and the rest stay RGBA. 16-bit pictures keep
/// their 16 bits. Decoding returns exactly the original pixels, including the colours of
/// transparent pixels.
///
/// An encoder is not `Sendable` and has one owner at a time. It keeps its working memory, about
/// three pictures, for the next picture, so use one encoder per thread for many pictures.
public final class PNGEncoder {
  private let scanlines: ScanlineCompressor
  private let metadata: PNGMetadataChunks
  /// The maximum number of bytes in one IDAT: PNG's limit, which compressed noise may exceed.
  var dataLimit = 0x7fff_ffff
  private let indexer = ColorIndexer()

  /// Creates an encoder that adds the chunks of `metadata` (colour space, profile, density, Exif,
  /// text) to each file. Working memory is allocated with the first picture.
  public init(effort: EncodingEffort = .balanced, metadata: AnimationMetadata? = nil) {
    scanlines = ScanlineCompressor(effort: effort)
    self.metadata = metadata.map { PNGMetadataChunks($0) } ?? PNGMetadataChunks()
  }

  /// Encodes `bitmap` as a PNG file.
  ///
  /// Takes about 10 to 40 nanoseconds per pixel by default. Throws ``AnimatedImageError/Code/parameter`` for a picture
  /// without pixels or with premultiplied alpha, which PNG does not support, ``AnimatedImageError/Code/limitExceeded``
  /// for a picture that is too large for PNG, and ``AnimatedImageError/Code/outOfMemory`` if allocation fails.
  public func encode(_ bitmap: Bitmap) throws(AnimatedImageError) -> [UInt8] {
    try encode(bitmap, in: PixelRect(bitmap.size))
  }

  /// Encodes the part of `bitmap` inside `rect`, which must lie within the picture.
  package func encode(
    _ bitmap: Bitmap, in rect: PixelRect
  ) throws(AnimatedImageError) -> [UInt8] {
    guard !rect.isEmpty else {
      throw AnimatedImageError(.parameter, "a picture without pixels cannot be written")
    }
    precondition(PixelRect(bitmap.size).contains(rect))
    let mostPixels = 0x7fff_ffff / 8
    guard rect.size.area <= mostPixels else {
      throw .exceeding(
        .pngPixels, asked: rect.size.area, allowed: mostPixels,
        "a picture of \(rect.size) does not fit a PNG")
    }
    let isDeep = bitmap.format == .rgba16
    let bitmap = try isDeep ? bitmap : bitmap.straightRGBA()
    let allowsGrey = metadata.profile.isEmpty || metadata.profileIsGrey
    if !isDeep {
      let lines = try scanlines.reserve((rect.width + 1) * rect.height)
      if let found = indexer.index(bitmap, rect, into: lines),
        let table = ColorTable(found: found, area: rect.size.area, allowsGrey: allowsGrey)
      {
        PixelPacking.pack(
          lines, width: rect.width, height: rect.height, remap: table.remap,
          depth: table.form.bitDepth)
        return try file(rect.size, table.form, table)
      }
    }
    let (isOpaque, isGrey) = PixelPacking.survey(bitmap, rect)
    let type: PNGForm.ColorType =
      switch (isOpaque, isGrey && allowsGrey) {
      // Opaque 8-bit grey pictures have a table, unless they are tiny.
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
    return try file(rect.size, form, nil)
  }

  /// Filters and compresses the scanlines and wraps them in chunks.
  private func file(
    _ size: PixelSize, _ form: PNGForm, _ table: ColorTable?
  ) throws(AnimatedImageError) -> [UInt8] {
    let count = try scanlines.pack(size, form)
    let capacity = count + 12 * (count / dataLimit) + 4096
    try PixelMemory.require(capacity)
    var chunks = PNGChunks(capacity: capacity)
    chunks.append(raw: PNGChunks.signature)
    chunks.append(header: size, form)
    chunks.append(metadata, form, table)
    chunks.append("IDAT", scanlines.packed, count: count, limit: dataLimit)
    chunks.append("IEND", [])
    return chunks.bytes
  }
}
