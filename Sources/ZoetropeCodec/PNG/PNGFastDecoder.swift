/// Decodes frames with libdeflate and the loops of this package.
///
/// The pixels are those of ``PNGReferenceDecoder``, in the layout that the file has. Data that is not
/// proved right by libdeflate and its checksums goes to libpng, which keeps the rows before the damage.
package struct PNGFastDecoder: FrameDecoding {
  /// Whether the samples of a 16-bit file keep their low byte.
  package let keeps16Bit: Bool
  private var data = PNGFrameData()
  private let inflater = Inflater()

  package init(keeps16Bit: Bool = false) { self.keeps16Bit = keeps16Bit }

  package mutating func decode(
    _ control: FrameControl, header: ImageHeader, bytes: borrowing RawSpan,
    into pixels: FramePixels
  ) throws(AnimatedImageError) {
    guard try data.begin(control, bytes: bytes, into: pixels) else { return }
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
    data.report(ending, of: control, byteCount: bytes.byteCount, in: pixels)
    if header.colorType == 3 {
      pixels.noteIndices(
        past: header.palette.count, below: 1 << header.bitDepth, in: control)
    }
    if isDone { pixels.settle(in: control.rect) }
  }

  /// Inflates, unfilters and puts the pixels in order; false when the data is not proved right, and
  /// nothing is then set but perhaps the fault.
  ///
  /// Unsafe code: the samples lie `front` bytes into a storage that has ``CanvasForm/back`` more bytes
  /// after them, which is the slack that the inflater, the filters and ``PNGRaster`` are promised, or at
  /// the end of a block of the canvas's form, which leaves as many. In front of them lies the raster.
  @unsafe
  private func decode(
    _ stream: UnsafeRawBufferPointer, _ format: PNGSampleFormat, header: ImageHeader,
    into pixels: FramePixels, _ ending: inout PNGEnding
  ) -> Bool {
    let size = PixelSize(width: pixels.width, height: pixels.height)
    let form = format.isDirect ? pixels.canvasForm : nil
    // What is too large goes to libpng's side, which says so; it needs more memory than this.
    guard let expected = format.storedByteCount(of: size),
      let raster = format.isDirect ? CanvasForm.back : PNGRaster.front(size, format),
      expected < Int.max / 2, raster < Int.max / 4
    else { return false }
    let front = form?.start(ofSamples: expected) ?? raster
    let needed = form?.byteCount ?? front + expected + CanvasForm.back
    guard (try? pixels.reserve(byteCount: needed)) != nil else { return false }
    let samples = unsafe pixels.storage.baseAddress + front
    let inflated: Int
    switch unsafe inflater.inflate(stream, into: samples, expected: expected) {
    case .inflated(let count, let hasSurplus):
      inflated = count
      ending.fault = hasSurplus ? .surplus : .none
    case .wrongChecksum:
      ending.fault = .adler
      return false
    case .refused: return false
    }

    let place = unsafe PNGRaster(format: format, size: size, base: pixels.storage.baseAddress)
    if format.isInterlaced {
      // What is shown of passes that are not complete is for libpng to say.
      guard inflated >= expected, unsafe Self.unfilterPasses(samples, into: place) else {
        return false
      }
      ending.rows = size.height
    } else {
      ending.rows = unsafe Self.unfilter(samples, count: inflated, format, size, &ending.fault)
      if !format.isDirect { unsafe place.place(samples, rows: ending.rows) }
    }
    pixels.layout = format.layout
    pixels.setPNGColors(header)
    let rowBytes = pixels.width * format.pixelSize
    pixels.bytesPerRow = format.isDirect ? rowBytes + 1 : rowBytes
    pixels.offset = format.isDirect ? front + 1 : 0
    pixels.validPixels = ending.rows * pixels.width
    pixels.isOpaque = header.isOpaquePNG
    return true
  }

  /// Unfilters the rows that `count` bytes hold; how many are right.
  @unsafe
  private static func unfilter(
    _ samples: UnsafeMutableRawPointer, count: Int, _ format: PNGSampleFormat, _ size: PixelSize,
    _ fault: inout PNGEnding.Fault
  ) -> Int {
    guard let rowBytes = format.rowByteCount(width: size.width) else { return 0 }
    let rows = min(count / (rowBytes + 1), size.height)
    let done = unsafe PNGUnfilter.unfilter(
      samples, rows: rows, rowBytes: rowBytes, pixelSize: format.filterSize)
    if done < rows {
      fault = .filter
    } else if rows < size.height {
      fault = .short
    }
    return done
  }

  /// Unfilters all passes, which are there completely, and puts their pixels in place; false when some
  /// row has no such filter.
  @unsafe
  private static func unfilterPasses(
    _ samples: UnsafeMutableRawPointer, into raster: PNGRaster
  ) -> Bool {
    let format = raster.format
    var start = unsafe samples
    for pass in Adam7.passes {
      let part = pass.size(of: raster.size)
      guard let count = format.pictureByteCount(part), count > 0,
        let rowBytes = format.rowByteCount(width: part.width)
      else { continue }
      let rows = unsafe PNGUnfilter.unfilter(
        start, rows: part.height, rowBytes: rowBytes, pixelSize: format.filterSize)
      guard rows == part.height else { return false }
      unsafe raster.place(start, pass)
      unsafe start += count
    }
    return true
  }
}
