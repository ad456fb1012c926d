/// The codec of PNG and APNG.
struct PNGCodec: FormatCodec {
  var name: String { "PNG" }
  var fileExtensions: [String] { ["png", "apng"] }
  var formats: [AnimationFormat] { [.apng, .png] }
  var signatures: [[UInt8?]] { [PNGScanner.signature] }

  func makeScanner(_ limits: DecodingLimits) -> any Scanning { PNGScanner(limits: limits) }

  func playCount(_ count: UInt32, of format: AnimationFormat) -> PlayCount {
    if format == .png { return .once }
    return count == 0 ? .indefinite : .finite(Int(count))
  }

  var hasStaticImages: Bool { true }

  func isPossible(_ header: ImageHeader) -> Bool { header.isPossibleInPNG }

  func isPossible(_ frame: FrameControl, under header: ImageHeader) -> Bool {
    !frame.rect.isEmpty && PixelRect(header.canvasSize).contains(frame.rect)
      && frame.isInterlaced == header.isInterlaced
  }

  func beginsFrame(_ bytes: borrowing RawSpan) -> Bool {
    guard bytes.byteCount >= 8 else { return false }
    let type = PNGChunkType(code: UInt32(bigEndian: bytes.load(UInt32.self, at: 4)))
    return type == .imageData || type == .frameData
  }

  func makeDecoder(_ options: DecodingOptions) -> any FrameDecoding {
    let keeps16Bit = options.canvasFormat == .rgba16
    return options.decoder == .fast
      ? PNGFastDecoder(keeps16Bit: keeps16Bit) : PNGReferenceDecoder(keeps16Bit: keeps16Bit)
  }

  func makeArrival(
    _ control: FrameControl, _ header: ImageHeader, _ options: DecodingOptions
  ) throws(AnimatedImageError) -> any ArrivalDecoding {
    try PNGArrival(control, header, keeps16Bit: options.canvasFormat == .rgba16)
  }

  func passCount(of frame: FrameControl) -> Int { frame.isInterlaced ? Adam7.passes.count : 1 }

  func decodedPixelSize(_ header: ImageHeader, _ options: DecodingOptions) -> Int {
    let converted = options.canvasFormat == .rgba16 && header.bitDepth == 16 ? 8 : 4
    guard options.decoder == .fast, let format = PNGSampleFormat(header) else { return converted }
    // Packed or interlaced pixels are in memory twice: as they are stored, and as they are decoded.
    return format.isDirect ? format.pixelSize : format.pixelSize + format.filterSize
  }

  func workingByteCount(for byteCount: Int, _ options: DecodingOptions) -> Int {
    PixelMemory.rounded(byteCount)
  }

  /// Returns nil unless a stored pixel has four bytes, as a pixel of the canvas has. Decoding RGB in place took 2.5 %
  /// longer, because a block with four bytes per pixel costs more to move between cores than one with three.
  func inPlaceLayout(_ header: ImageHeader, _ options: DecodingOptions) -> InPlaceLayout? {
    guard options.decoder == .fast, options.canvasFormat == .rgba8,
      let format = PNGSampleFormat(header), format.isDirect, format.pixelSize == 4
    else { return nil }
    return InPlaceLayout(header.canvasSize, isOpaque: header.isOpaquePNG)
  }

  // Only animations are written through the codec. ``PNGEncoder`` writes a PNG with a single picture.
  func writable(as format: AnimationFormat) -> WritableFormat? {
    guard format == .apng else { return nil }
    return WritableFormat(
      hasPalettes: false, framesCanClear: true, countsCentiseconds: false, hasPoster: true,
      maximumPlays: 0x7fff_ffff
    ) { (request) throws(AnimatedImageError) in try APNGEncoder(request) }
  }
}

extension ScannedImage {
  /// Makes the static image the only frame of a file that has no valid animation.
  package mutating func showStaticImage() {
    header?.format = .png
    storedLoopCount = nil
    if let picture = staticImage {
      frames = []
      frames.append(picture)
      staticImage = nil
    }
  }
}
