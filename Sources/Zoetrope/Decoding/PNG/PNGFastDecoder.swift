/// Decodes frames with libdeflate and the loops of this package.
///
/// The pixels are those of ``PNGReferenceDecoder``, in the layout that the file has. What the loops do
/// not take (interlacing, samples below 8 bits, a transparent colour), and data that is not proved right
/// by libdeflate and its checksums, goes to libpng, which also keeps the rows before the damage.
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
    guard try data.begin(record, bytes: bytes, into: pixels) else { return }
    var ending = PNGEnding(fault: .stream)
    let isDone = unsafe data.withBytes(of: bytes) { stream in
      // A bit of damage can turn the longest match into a code that zlib refuses and libdeflate takes
      // for the same: the Adler-32 is then right, and only the chunk's CRC tells.
      guard data.badChunk == nil, let format = PNGSampleFormat(header) else { return false }
      return unsafe decode(stream, format, header: header, into: pixels, &ending)
    }
    if !isDone {
      let checksum = ending.fault
      ending = try data.decodeByLibpng(
        bytes, header: header, keeps16Bit: keeps16Bit, into: pixels)
      if checksum == .adler, ending.fault == .none { ending.fault = .adler }
    }
    data.report(ending, of: record, byteCount: bytes.byteCount, in: pixels)
    pixels.noteIndices(past: header.palette.count, in: record.control)
    if isDone { pixels.settle(in: record.control.rect) }
  }

  /// Inflates and unfilters; false when the data is not proved right, and nothing is then set but
  /// perhaps the fault.
  ///
  /// Unsafe code: the rows lie `front` bytes into a storage that has `front` more bytes after them,
  /// which is the slack that the inflater and the filters are promised, or at the end of a block of
  /// the canvas's form, which leaves as many.
  @unsafe
  private func decode(
    _ stream: UnsafeRawBufferPointer, _ format: PNGSampleFormat, header: ImageHeader,
    into pixels: FramePixels, _ ending: inout PNGEnding
  ) -> Bool {
    let form = pixels.canvasForm
    let rowBytes = pixels.width * format.pixelSize
    let (expected, isTooLarge) = (rowBytes + 1).multipliedReportingOverflow(by: pixels.height)
    // libpng's side says so; it needs more memory than this.
    guard !isTooLarge else { return false }
    let front = form?.start(ofSamples: expected) ?? CanvasForm.back
    let needed = form?.byteCount ?? expected + 2 * front
    guard (try? pixels.reserve(byteCount: needed)) != nil else { return false }
    let base = unsafe pixels.storage.baseAddress + front
    let inflated: Int
    switch unsafe inflater.inflate(stream, into: base, expected: expected) {
    case .inflated(let count, let hasSurplus):
      inflated = count
      ending.fault = hasSurplus ? .surplus : .none
    case .wrongChecksum:
      ending.fault = .adler
      return false
    case .refused: return false
    }

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
    return true
  }
}
