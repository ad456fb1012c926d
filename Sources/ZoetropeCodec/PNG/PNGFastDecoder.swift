/// Decodes frames with libdeflate and the loops of this package.
///
/// The pixels are those of ``PNGReferenceDecoder``, in the layout that the file has. Data that is not
/// proved right by libdeflate and its checksums goes to libpng, which keeps the rows before the damage.
package struct PNGFastDecoder: FrameDecoding {
  /// Whether the samples of a 16-bit file keep their low byte.
  package let keeps16Bit: Bool
  private var data = PNGStreamAssembler()
  private let inflater = Inflater()

  package init(keeps16Bit: Bool = false) { self.keeps16Bit = keeps16Bit }

  package mutating func decode(
    _ control: FrameControl, header: ImageHeader, bytes: borrowing RawSpan,
    into pixels: FramePixels
  ) throws(AnimatedImageError) {
    guard try data.begin(control, bytes: bytes, into: pixels) else { return }
    var outcome = PNGFrameOutcome(fault: .stream)
    let isDone = data.withBytes(of: bytes) { stream in
      // A bit of damage can turn the longest match into a code that zlib refuses and libdeflate takes
      // for the same: the Adler-32 is then right, and only the chunk's CRC tells.
      guard data.badChunk == nil, let format = PNGSampleFormat(header) else { return false }
      return decode(stream, format, header: header, into: pixels, &outcome)
    }
    if !isDone {
      let checksum = outcome.fault
      outcome = try data.decodeByLibpng(
        bytes, header: header, keeps16Bit: keeps16Bit, into: pixels)
      if checksum == .adler, outcome.fault == .none { outcome.fault = .adler }
    }
    pixels.damage = outcome.damage(of: control, in: data, byteCount: bytes.byteCount)
    if header.colorType == 3 {
      pixels.noteIndices(
        past: header.palette.count, below: 1 << header.bitDepth, in: control)
    }
    if isDone { pixels.expandInPlace(at: control.rect) }
  }

  /// Inflates, unfilters and puts the pixels in order; false when the data is not proved right, and
  /// nothing is then set but perhaps the fault.
  ///
  /// The samples lie `front` bytes into a storage that has ``InPlaceLayout/back`` more bytes after them,
  /// which is the slack that the inflater, the filters and ``PNGRaster`` ask for, or at the end of a
  /// block of the canvas's form, which leaves as many. In front of them lies the raster.
  private func decode(
    _ stream: borrowing RawSpan, _ format: PNGSampleFormat, header: ImageHeader,
    into pixels: FramePixels, _ outcome: inout PNGFrameOutcome
  ) -> Bool {
    let size = PixelSize(width: pixels.width, height: pixels.height)
    let form = format.isDirect ? pixels.inPlaceLayout : nil
    // What is too large goes to libpng's side, which says so; it needs more memory than this.
    guard let expected = format.storedByteCount(of: size),
      let rasterEnd = format.isDirect ? InPlaceLayout.back : PNGRaster.front(size, format),
      expected < Int.max / 2, rasterEnd < Int.max / 4
    else { return false }
    let front = form?.start(ofSamples: expected) ?? rasterEnd
    let needed = form?.byteCount ?? front + expected + InPlaceLayout.back
    guard (try? pixels.reserve(byteCount: needed)) != nil else { return false }
    let inflated: Int
    switch inflater.inflate(stream, into: pixels.storage, at: front, expected: expected) {
    case .inflated(let count, let hasSurplus):
      inflated = count
      outcome.fault = hasSurplus ? .surplus : .none
    case .wrongChecksum:
      outcome.fault = .adler
      return false
    case .refused: return false
    }

    let raster = PNGRaster(format: format, size: size, storage: pixels.storage)
    if format.isInterlaced {
      // What is shown of passes that are not complete is for libpng to say.
      guard inflated >= expected, Self.unfilterPasses(at: front, into: raster) else {
        return false
      }
      outcome.rows = size.height
    } else {
      outcome.rows = Self.unfilter(
        pixels.storage, at: front, count: inflated, format, size, &outcome.fault)
      if !format.isDirect { raster.place(samplesAt: front, rows: outcome.rows) }
    }
    pixels.layout = format.layout
    pixels.setPNGColors(header)
    let rowBytes = pixels.width * format.pixelSize
    pixels.bytesPerRow = format.isDirect ? rowBytes + 1 : rowBytes
    pixels.offset = format.isDirect ? front + 1 : 0
    pixels.validPixels = outcome.rows * pixels.width
    pixels.isOpaque = header.isOpaquePNG
    return true
  }

  /// Unfilters the rows that `count` bytes hold; how many are right.
  private static func unfilter(
    _ storage: PixelStorage, at offset: Int, count: Int, _ format: PNGSampleFormat,
    _ size: PixelSize, _ fault: inout PNGFrameOutcome.Fault
  ) -> Int {
    guard let rowBytes = format.rowByteCount(width: size.width) else { return 0 }
    let rows = min(count / (rowBytes + 1), size.height)
    let done = PNGUnfilter.unfilter(
      storage, at: offset, rows: rows, rowBytes: rowBytes, pixelSize: format.filterSize)
    if done < rows {
      fault = .filter
    } else if rows < size.height {
      fault = .short
    }
    return done
  }

  /// Unfilters all passes, which are there completely, and puts their pixels in place; false when some
  /// row has no such filter.
  private static func unfilterPasses(at offset: Int, into raster: PNGRaster) -> Bool {
    let format = raster.format
    var start = offset
    for pass in Adam7.passes {
      let part = pass.size(of: raster.size)
      guard let count = format.pictureByteCount(part), count > 0,
        let rowBytes = format.rowByteCount(width: part.width)
      else { continue }
      let rows = PNGUnfilter.unfilter(
        raster.storage, at: start, rows: part.height, rowBytes: rowBytes,
        pixelSize: format.filterSize)
      guard rows == part.height else { return false }
      raster.place(samplesAt: start, pass)
      start += count
    }
    return true
  }
}

extension FramePixels {
  /// Sets what every PNG frame has in common; no pixel is valid yet.
  func resetForPNG(_ size: PixelSize) {
    width = size.width
    height = size.height
    layout = .rgba8
    bytesPerRow = 0
    offset = 0
    isInterlaced = false
    transparentIndex = nil
    isOpaque = false
    hasBinaryAlpha = false
    validPixels = 0
    damage = nil
    isInPlace = false
  }

  /// Sets the colours that `layout` is read with.
  func setPNGColors(_ header: ImageHeader) {
    let key = header.hasTransparentColor ? header.transparency : []
    switch layout {
    case .indexed8 where header.colorType == 3: setPNGPalette(header.palette)
    case .indexed8:
      // Only the low bits count, as in libpng.
      let key = key.last.map { Int($0) & (1 << Int(header.bitDepth) - 1) }
      setGreyPalette(bitDepth: Int(header.bitDepth), transparent: key)
    case .keyedGrey16, .keyedRGB16: setKey(key)
    case .keyedRGB8: setKey([key[1], key[3], key[5]])
    default: break
    }
  }

  /// Takes PLTE's colours; entries past them are opaque black, as the specification has it.
  private func setPNGPalette(_ colors: [UInt32]) {
    setPalette(colors.span, rest: RGBA.black.word)
  }

  /// Makes the palette the greys of `bitDepth` bits, of which one may be transparent.
  private func setGreyPalette(bitDepth: Int, transparent: Int?) {
    let last = 1 << bitDepth - 1
    var entries = takePalette()
    for value in 0...last { entries[value] = UInt32(value * 255 / last) * 0x01_0101 | 0xff00_0000 }
    if let transparent { entries[transparent] &= 0xff_ffff }
    palette = entries
  }

  /// Puts the bytes of the transparent pixel into the first two entries of the palette.
  private func setKey(_ bytes: [UInt8]) {
    for entry in 0..<2 {
      palette[entry] = bytes.dropFirst(4 * entry).prefix(4).reversed().reduce(0) {
        $0 << 8 | UInt32($1)
      }
    }
  }
}

extension ImageHeader {
  /// Whether a colour of types 0 and 2 stands for a transparent pixel.
  var hasTransparentColor: Bool {
    (colorType == 0 && transparency.count == 2) || (colorType == 2 && transparency.count == 6)
  }

  /// Whether no pixel of the file can be anything but opaque.
  var isOpaquePNG: Bool {
    switch colorType {
    case 0, 2: !hasTransparentColor
    case 3: palette.allSatisfy { $0 >> 24 == 255 }
    default: false
    }
  }
}
