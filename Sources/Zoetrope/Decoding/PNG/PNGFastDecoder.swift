/// Decodes frames with libdeflate and the loops of this package.
///
/// The pixels are those of ``PNGReferenceDecoder``, in the layout that the file has. What the loops do
/// not take (interlacing, samples below 8 bits, a transparent colour) and what libdeflate refuses goes
/// to libpng, which also keeps the rows before the damage.
package struct PNGFastDecoder: FrameDecoding {
  /// Whether the samples of a 16-bit file keep their low byte.
  package let keeps16Bit: Bool
  private var data = PNGFrameData()
  private let inflater = Inflater()

  package init(keeps16Bit: Bool = false) { self.keeps16Bit = keeps16Bit }

  package mutating func decode(
    _ record: FrameRecord, header: ImageHeader, bytes: borrowing RawSpan,
    into pixels: FramePixels
  ) throws(AnimatedImageError) {
    data.collect(bytes)
    pixels.resetForPNG(record.control.rect.size)
    guard !record.control.rect.isEmpty else { return }
    let ending = try unsafe data.withBytes(of: bytes) {
      stream -> Result<PNGEnding, AnimatedImageError> in
      if let format = PNGSampleFormat(header),
        let ending = unsafe decode(stream, format, header: header, into: pixels)
      {
        return .success(ending)
      }
      return unsafe PNGGuard.decode(stream, header: header, keeps16Bit: keeps16Bit, into: pixels)
    }.get()
    pixels.damage =
      PNGDamage(
        ending: ending, data: data, control: record.control, byteCount: bytes.byteCount
      ).damage
    pixels.noteIndices(past: header.palette.count, in: record.control)
  }

  /// Inflates and unfilters; nil when libdeflate refuses, and the pixels are then not set.
  ///
  /// Unsafe code: the rows lie `front` bytes into a storage that has `front` more bytes after them,
  /// which is the slack that the inflater and the filters are promised.
  @unsafe
  private func decode(
    _ stream: UnsafeRawBufferPointer, _ format: PNGSampleFormat, header: ImageHeader,
    into pixels: FramePixels
  ) -> PNGEnding? {
    let front = 64
    let rowBytes = pixels.width * format.pixelSize
    let expected = (rowBytes + 1) * pixels.height
    pixels.reserve(byteCount: expected + 2 * front)
    let base = unsafe pixels.storage.baseAddress + front
    guard let (inflated, end) = unsafe inflater.inflate(stream, into: base, expected: expected)
    else { return nil }

    var ending = PNGEnding(fault: end)
    let rows = min(inflated / (rowBytes + 1), pixels.height)
    ending.rows = unsafe PNGUnfilter.unfilter(
      base, rows: rows, rowBytes: rowBytes, pixelSize: format.pixelSize)
    if ending.rows < rows {
      ending.fault = .filter
    } else if rows < pixels.height {
      ending.fault = .short
    }
    pixels.layout = format.layout
    if format.layout == .indexed8 { pixels.setPNGPalette(header.palette) }
    pixels.bytesPerRow = rowBytes + 1
    pixels.offset = front + 1
    pixels.validPixels = ending.rows * pixels.width
    pixels.isOpaque = header.isOpaquePNG
    return ending
  }
}
