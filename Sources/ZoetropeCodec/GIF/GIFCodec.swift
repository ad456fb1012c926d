/// The codec of the formats GIF87a and GIF89a.
struct GIFCodec: FormatCodec {
  var name: String { "GIF" }
  var fileExtensions: [String] { ["gif"] }
  var formats: [AnimationFormat] { [.gif] }
  var signatures: [[UInt8?]] { [Array("GIF8".utf8)] }

  /// The maximum of a frame's position, width and height, which are stored in 16 bits.
  private static let longestSide = 65_535

  func makeScanner(_ limits: DecodingLimits) -> any Scanning { GIFScanner(limits: limits) }

  // A loop block stores the number of repeats, which is one less than the number of plays; 0 means endless.
  func playCount(_ count: UInt32, of format: AnimationFormat) -> PlayCount {
    count == 0 ? .indefinite : .finite(Int(count) + 1)
  }

  // The canvas is the logical screen, enlarged if necessary to contain the first frame.
  func isPossible(_ header: ImageHeader) -> Bool {
    let size = header.canvasSize
    return !size.isEmpty && max(size.width, size.height) <= 2 * Self.longestSide
  }

  // A frame may be empty, and it may extend past the canvas. The decoder counts a frame's pixels in 32 bits, so
  // ``longestSide`` applies whatever the limits are.
  func isPossible(_ frame: FrameControl, under header: ImageHeader) -> Bool {
    max(frame.rect.x, frame.rect.y, frame.rect.width, frame.rect.height) <= Self.longestSide
  }

  func beginsFrame(_ bytes: borrowing RawSpan) -> Bool { bytes.byteCount > 0 && bytes[0] == 0x2c }

  func makeDecoder(_ options: DecodingOptions) -> any FrameDecoding {
    options.decoder == .fast ? GIFFastDecoder() : GIFReferenceDecoder()
  }

  func makeArrival(
    _ control: FrameControl, _ header: ImageHeader, _ options: DecodingOptions
  ) throws(AnimatedImageError) -> any ArrivalDecoding { try GIFArrival(control, header) }

  func passCount(of frame: FrameControl) -> Int {
    frame.isInterlaced ? GIFInterlace.passes.count : 1
  }

  func decodedPixelSize(_ header: ImageHeader, _ options: DecodingOptions) -> Int { 1 }

  func workingByteCount(for byteCount: Int, _ options: DecodingOptions) -> Int {
    options.decoder == .reference
      ? byteCount > .max / 2 ? .max : 2 * byteCount : LZWDecoder.byteCount(for: byteCount)
  }

  // A pixel with the transparent index leaves the canvas unchanged.
  var storedBlend: BlendOperation { .over }

  func writable(as format: AnimationFormat) -> WritableFormat? {
    WritableFormat(
      hasPalettes: true, framesCanClear: false, countsCentiseconds: true, hasPoster: false,
      maximumPlays: GIFAnimationEncoder.maximumPlays, textKey: GIFAnimationEncoder.textKey,
      losesMetadata: GIFAnimationEncoder.losesMetadata
    ) { (request) throws(AnimatedImageError) in try GIFAnimationEncoder(request) }
  }
}
