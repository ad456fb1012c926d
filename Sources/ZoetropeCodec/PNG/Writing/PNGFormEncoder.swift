/// Compresses pictures in the form in which an existing file stores its frames, with the same colour type, bit depth,
/// palette and interlacing.
///
/// The pictures must be in ``PixelFormat/rgba16`` if the file has 16 bits per sample, and otherwise in
/// ``PixelFormat/rgba8``.
///
/// An encoder has one owner at a time. It keeps its working memory, which has the size of two pictures, for the next
/// picture.
package final class PNGFormEncoder {
  private let header: ImageHeader
  private let form: PNGForm
  /// For each colour in the palette, its first index there.
  private let indices: [UInt32: UInt8]
  /// The index of the first fully transparent palette entry, whatever its colour, or nil if there is none.
  private let clearIndex: UInt8?
  /// The samples of the transparent colour, in the file's bit depth: one sample for grey, three for RGB, and none if
  /// there is no transparent colour.
  private let key: [UInt16]
  private let scanlines: ScanlineCompressor

  /// Creates an encoder.
  ///
  /// - Parameter header: The header of a PNG. Its palette may have more entries than the palette in the file.
  package init(_ header: ImageHeader, effort: EncodingEffort = .balanced) {
    self.header = header
    scanlines = ScanlineCompressor(effort: effort, levelAfterTrials: 12)
    form = PNGForm(
      colorType: .init(rawValue: header.colorType) ?? .rgba, bitDepth: Int(header.bitDepth))
    // A pixel can only have an index that the bit depth can hold, and palettes of damaged files may be longer.
    let palette = header.palette.prefix(1 << min(form.bitDepth, 8))
    indices = Dictionary(
      zip(palette, (0...255).map { UInt8($0) }), uniquingKeysWith: { first, _ in first })
    clearIndex = palette.firstIndex { $0 >> 24 == 0 }.map { UInt8($0) }
    let bytes = header.transparency
    // Decoders ignore the bits above the bit depth (11.3.2.1).
    let mask = UInt16.max >> UInt16(16 - form.bitDepth)
    key = stride(from: 0, to: bytes.count - 1, by: 2).map { bytes.bigEndian16(at: $0) & mask }
  }

  /// Whether the form can store a picture and, if not, the reason.
  package enum Fit: Sendable, Hashable {
    case fits
    /// The form cannot store the picture, because the palette lacks these colours.
    case lacks([UInt32])
    /// The form cannot store the transparency or the colours of the picture.
    case never
  }

  /// Returns whether the form can store the pixels of `bitmap` in `rect`.
  package func fit(_ bitmap: Bitmap, in rect: PixelRect) -> Fit {
    if form.colorType == .rgba { return .fits }
    var missing: Set<UInt32> = []
    var last: Samples?
    for y in rect.y..<rect.maxY {
      for x in rect.x..<rect.maxX {
        let pixel = Self.pixel(bitmap, x, y)
        if pixel == last { continue }
        last = pixel
        guard stored(pixel) == nil else { continue }
        guard form.colorType == .palette else { return .never }
        missing.insert(pixel.word)
        if missing.count > 256 { return .never }
      }
    }
    return missing.isEmpty ? .fits : .lacks(missing.sorted())
  }

  /// Returns the pixels of `bitmap` in `rect`, which must fit the form, as a zlib stream.
  ///
  /// - Throws: `outOfMemory`; `cancelled` once `isCancelled` returns true.
  package func compress(
    _ bitmap: Bitmap, in rect: PixelRect, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> [UInt8] {
    precondition(PixelRect(bitmap.size).contains(rect) && !rect.isEmpty)
    if header.isInterlaced {
      var rows: [UInt8] = []
      // Each of the seven passes has a filter byte and up to seven unused bits in each of its rows.
      try rows.makeRoom(
        adding: form.rowBytes(width: rect.width) * rect.height + 14 * rect.height)
      for pass in Adam7.passes {
        rows += try self.rows(
          bitmap, rect, columns: pass.column, pass.columnStep, rows: pass.row, pass.rowStep,
          isCancelled)
      }
      // The rows are not filtered, because filters gain little if neighbouring pixels are far apart in the picture.
      guard let compressor = ZlibCompressor(level: 8) else {
        throw AnimatedImageError(.outOfMemory, "not enough memory to compress a picture")
      }
      try PixelMemory.require(compressor.bound(rows.count))
      return compressor.compress(rows)
    }
    let lines = try scanlines.reserve((form.rowBytes(width: rect.width) + 1) * rect.height)
    if !isDirect {
      PixelPacking.write(
        try rows(bitmap, rect, columns: 0, 1, rows: 0, 1, isCancelled), into: lines)
    } else if form.bitDepth == 16 {
      PixelPacking.writeDeep(bitmap, rect, as: form.colorType, into: lines)
    } else {
      PixelPacking.write(bitmap, rect, as: form.colorType, into: lines)
    }
    let count = try scanlines.pack(rect.size, form, isCancelled: isCancelled)
    let packed = scanlines.packed
    var bytes: [UInt8] = []
    try bytes.makeRoom(adding: count)
    bytes.append(copying: packed.bytes.extracting(first: count))
    return bytes
  }

  /// Whether ``PixelPacking`` can write the pixels, so that they need not be converted one by one with ``stored(_:)``.
  private var isDirect: Bool {
    key.isEmpty && form.bitDepth >= 8 && form.colorType != .palette
      && (form.colorType != .grey || form.bitDepth == 16)
  }

  /// The red, green, blue and alpha samples of a pixel, with 8 or 16 bits as in the bitmap.
  private typealias Samples = SIMD4<UInt16>

  private static func pixel(_ bitmap: Bitmap, _ x: Int, _ y: Int) -> Samples {
    let row = bitmap.row(y)
    if bitmap.format == .rgba16 {
      let word = row.load(UInt64.self, at: 8 * x)
      return Samples(
        UInt16(truncatingIfNeeded: word), UInt16(truncatingIfNeeded: word >> 16),
        UInt16(truncatingIfNeeded: word >> 32), UInt16(truncatingIfNeeded: word >> 48))
    }
    let word = row.load(UInt32.self, at: 4 * x)
    return Samples(
      UInt16(word & 0xff), UInt16(word >> 8 & 0xff), UInt16(word >> 16 & 0xff), UInt16(word >> 24))
  }

  /// Returns the samples that represent a pixel in the file, one for each channel of the form. Returns nil if the form
  /// cannot store the pixel.
  private func stored(_ pixel: Samples) -> Samples? {
    let full: UInt16 = form.bitDepth == 16 ? 0xffff : 0xff
    let isGrey = pixel.x == pixel.y && pixel.y == pixel.z
    switch form.colorType {
    case .rgba: return pixel
    case .greyAlpha:
      // The colour of an invisible pixel does not matter.
      guard isGrey || pixel.w == 0 else { return nil }
      return Samples(isGrey ? pixel.x : 0, pixel.w, 0, 0)
    case .palette:
      let index = indices[pixel.word] ?? (pixel.w == 0 ? clearIndex : nil)
      return index.map { Samples(UInt16($0), 0, 0, 0) }
    case .rgb:
      let color = Samples(pixel.x, pixel.y, pixel.z, 0)
      guard key.count == 3 else { return pixel.w == full ? color : nil }
      let hidden = Samples(key[0], key[1], key[2], 0)
      if pixel.w == 0 { return hidden }
      return pixel.w == full && color != hidden ? color : nil
    case .grey:
      if pixel.w == 0 { return key.first.map { Samples($0, 0, 0, 0) } }
      let step: UInt16 =
        form.bitDepth < 8 ? 255 / (1 << UInt16(form.bitDepth) - 1) : 1
      guard isGrey, pixel.w == full, pixel.x % step == 0 else { return nil }
      let level = pixel.x / step
      return level == key.first ? nil : Samples(level, 0, 0, 0)
    }
  }

  /// Returns the scanlines that contain every `columnStep`th pixel of every `rowStep`th row of `rect`, starting at
  /// column `column` and row `row`.
  private func rows(
    _ bitmap: Bitmap, _ rect: PixelRect, columns column: Int, _ columnStep: Int, rows row: Int,
    _ rowStep: Int, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> [UInt8] {
    guard column < rect.width else { return [] }
    let depth = form.bitDepth
    let channels = form.colorType.channels
    var bytes: [UInt8] = []
    let columnCount = (rect.width - column + columnStep - 1) / columnStep
    let rowCount = max(rect.height - row + rowStep - 1, 0) / rowStep
    try bytes.makeRoom(adding: (form.rowBytes(width: columnCount) + 1) * rowCount)
    for y in stride(from: row, to: rect.height, by: rowStep) {
      if isCancelled() {
        throw AnimatedImageError(.cancelled, "stopped while compressing a frame", format: .png)
      }
      bytes.append(0)
      var (packed, bits) = (0, 0)
      for x in stride(from: column, to: rect.width, by: columnStep) {
        guard let samples = stored(Self.pixel(bitmap, rect.x + x, rect.y + y)) else {
          preconditionFailure("a pixel that does not fit")
        }
        for channel in 0..<channels {
          let sample = samples[channel]
          if depth == 16 { bytes.append(UInt8(sample >> 8)) }
          if depth >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: sample))
            continue
          }
          packed = packed << depth | Int(sample)
          bits += depth
          if bits == 8 {
            bytes.append(UInt8(packed))
            (packed, bits) = (0, 0)
          }
        }
      }
      if bits > 0 { bytes.append(UInt8(packed << (8 - bits))) }
    }
    return bytes
  }
}

extension SIMD4<UInt16> {
  /// The word of an 8-bit pixel, as in `RGBA.word`.
  fileprivate var word: UInt32 {
    UInt32(x) | UInt32(y) << 8 | UInt32(z) << 16 | UInt32(w) << 24
  }
}
