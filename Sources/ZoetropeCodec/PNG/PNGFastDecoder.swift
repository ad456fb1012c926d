/// Decodes PNG frames with libdeflate and this package's own unfiltering and deinterlacing.
///
/// The pixels are those of ``PNGReferenceDecoder``, in the layout that the file uses. Data that is too short or too
/// long is inflated by zlib instead of libdeflate. All other data that libdeflate and the checksums do not prove valid
/// goes to libpng, which keeps the rows before the damage.
package struct PNGFastDecoder: FrameDecoding {
  /// Whether samples of 16 bits keep all their bits. Otherwise only the high byte is kept.
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
      // A single damaged bit can change the code of the longest match to a reserved code. zlib rejects this code, but
      // libdeflate treats it as the longest match. The Adler-32 is then correct, and only the CRC of the chunk reveals
      // the damage.
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

  /// Inflates, unfilters and deinterlaces a frame. Returns false if the data is not proven valid. In that case the
  /// pixels are not set, but the fault may be.
  ///
  /// The storage contains the raster, followed by the samples from byte `front` on. The inflater, the filters and
  /// ``PNGRaster`` require ``InPlaceLayout/back`` spare bytes after the samples. A block that is shaped like the canvas
  /// has these bytes too.
  private func decode(
    _ stream: borrowing RawSpan, _ format: PNGSampleFormat, header: ImageHeader,
    into pixels: FramePixels, _ outcome: inout PNGFrameOutcome
  ) -> Bool {
    let size = pixels.content.size
    let form = format.isDirect ? pixels.inPlaceLayout : nil
    // A frame that is too large goes to libpng, which needs even more memory and reports the error.
    guard let expected = format.storedByteCount(of: size),
      let rasterEnd = format.isDirect ? InPlaceLayout.back : PNGRaster.front(size, format),
      let lastRows = format.lastRows(of: size),
      expected < Int.max / 2, rasterEnd < Int.max / 4
    else { return false }
    let front = form?.start(ofSamples: expected) ?? rasterEnd
    let needed = form?.byteCount ?? front + expected + InPlaceLayout.back
    guard (try? pixels.reserve(byteCount: needed)) != nil else { return false }
    guard
      let inflated = inflate(
        stream, into: pixels.storage, at: front, expected: expected, lastRows, &outcome.fault)
    else { return false }

    let raster = PNGRaster(format: format, size: size, storage: pixels.storage)
    if format.isInterlaced {
      outcome.rows = Self.unfilterPasses(at: front, count: inflated, into: raster, &outcome.fault)
    } else {
      outcome.rows = Self.unfilter(
        pixels.storage, at: front, count: inflated, format, size, &outcome.fault)
      if !format.isDirect { raster.place(samplesAt: front, rows: outcome.rows) }
    }
    pixels.setPNGColors(header, for: format.layout)
    let rowBytes = size.width * format.pixelSize
    pixels.content = FramePixels.Content(
      layout: format.layout, width: size.width, height: size.height,
      bytesPerRow: format.isDirect ? rowBytes + 1 : rowBytes,
      offset: format.isDirect ? front + 1 : 0, isOpaque: header.isOpaquePNG,
      validPixels: outcome.rows * size.width)
    return true
  }

  /// The maximum number of unread bytes after the last row that may belong to the end of the stream. If there are more,
  /// the stream has surplus data. libpng would read fewer bytes than this.
  private static let longestEnd = 2048 + 64

  /// Inflates the samples and returns the number of valid bytes. Returns nil if libpng must find out how many bytes are
  /// valid. In that case the contents of the storage are unspecified, and the fault may be set.
  private func inflate(
    _ stream: borrowing RawSpan, into storage: PixelStorage, at front: Int, expected: Int,
    _ rows: PNGStoredRows, _ fault: inout PNGFrameOutcome.Fault
  ) -> Int? {
    // libdeflate is not tried, because it would report the missing end only after the same amount of work.
    if data.isDataCut,
      case .cut(let count) = Inflater.inflatePart(
        stream, into: storage, at: front, expected: expected, rows: rows)
    {
      return count
    }
    switch inflater.inflate(stream, into: storage, at: front, expected: expected) {
    case .inflated(let count, let hasSurplus):
      fault = hasSurplus ? .surplus : .none
      return count
    case .wrongChecksum:
      fault = .adler
      return nil
    case .refused:
      let part = Inflater.inflatePart(
        stream, into: storage, at: front, expected: expected, rows: rows)
      switch part {
      case .cut(let count): return count
      case .full(let unread) where unread > Self.longestEnd:
        // The surplus data is not examined, because that can take long even for a small file.
        fault = .surplus
        return expected
      case .full, .other: return nil
      }
    }
  }

  /// Unfilters the rows that lie in the first `count` bytes of samples, and returns the number of valid rows.
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

  /// Unfilters all rows that lie in the first `count` bytes of samples, whatever their pass, and moves their pixels to
  /// their places in the raster. Returns the number of valid rows of the frame.
  private static func unfilterPasses(
    at offset: Int, count: Int, into raster: PNGRaster, _ fault: inout PNGFrameOutcome.Fault
  ) -> Int {
    let format = raster.format
    var start = offset
    for pass in Adam7.passes {
      let part = pass.size(of: raster.size)
      guard !part.isEmpty, let rowBytes = format.rowByteCount(width: part.width) else { continue }
      let rows = min((offset + count - start) / (rowBytes + 1), part.height)
      let done = PNGUnfilter.unfilter(
        raster.storage, at: start, rows: rows, rowBytes: rowBytes, pixelSize: format.filterSize)
      raster.place(samplesAt: start, rows: done, of: pass)
      guard done == part.height else {
        fault = done < rows ? .filter : .short
        // The last pass contains every second row. The row above its first missing row belongs to an earlier pass and
        // is complete.
        return pass.row == Adam7.last.row ? 2 * done + 1 : 0
      }
      start += rows * (rowBytes + 1)
    }
    return raster.size.height
  }
}

extension FramePixels {
  /// Sets the properties that all PNG frames share. No pixel is valid afterwards.
  func resetForPNG(_ size: PixelSize) {
    content = Content(width: size.width, height: size.height)
    damage = nil
  }

  /// Sets the palette or the transparent colour, whichever `layout` requires.
  func setPNGColors(_ header: ImageHeader, for layout: Layout) {
    let key = header.hasTransparentColor ? header.transparency : []
    switch layout {
    case .indexed8 where header.colorType == 3: setPNGPalette(header.palette)
    case .indexed8:
      // Only the low bits of the transparent grey are used, as in libpng.
      let key = key.last.map { Int($0) & (1 << Int(header.bitDepth) - 1) }
      setGreyPalette(bitDepth: Int(header.bitDepth), transparent: key)
    case .keyedGrey16, .keyedRGB16: setKey(key)
    case .keyedRGB8: setKey([key[1], key[3], key[5]])
    default: break
    }
  }

  /// Sets the palette to the colours of PLTE. The remaining entries become opaque black, as the specification requires.
  private func setPNGPalette(_ colors: [UInt32]) {
    setPalette(colors.span, rest: RGBA.black.word)
  }

  /// Sets the palette to the greys that samples of `bitDepth` bits represent. The grey of the sample `transparent`
  /// becomes transparent.
  private func setGreyPalette(bitDepth: Int, transparent: Int?) {
    let last = 1 << bitDepth - 1
    var entries = takePalette()
    for value in 0...last { entries[value] = UInt32(value * 255 / last) * 0x01_0101 | 0xff00_0000 }
    if let transparent { entries[transparent] &= 0xff_ffff }
    palette = entries
  }

  /// Stores the bytes of the transparent colour in the first two entries of the palette.
  private func setKey(_ bytes: [UInt8]) {
    for entry in 0..<2 {
      palette[entry] = bytes.dropFirst(4 * entry).prefix(4).reversed().reduce(0) {
        $0 << 8 | UInt32($1)
      }
    }
  }
}

extension ImageHeader {
  /// Whether one colour of a grey or RGB image marks transparent pixels.
  var hasTransparentColor: Bool {
    (colorType == 0 && transparency.count == 2) || (colorType == 2 && transparency.count == 6)
  }

  /// Whether all pixels of the file are certain to be opaque.
  package var isOpaquePNG: Bool {
    switch colorType {
    case 0, 2: !hasTransparentColor
    case 3: palette.allSatisfy { $0 >> 24 == 255 }
    default: false
    }
  }
}
