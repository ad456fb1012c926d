/// Everything that the engine needs to know about a file format: one row of the ``FormatTable``.
///
/// A conforming type has no state. It is in the folder of its format, with its scanner and decoders. Work per
/// byte or pixel is behind a single call per block or frame, so that those loops are compiled with all types
/// known.
package protocol FormatCodec: Sendable {
  /// The name for people, such as "GIF".
  var name: String { get }
  /// How files are usually named: extensions without the dot.
  var fileExtensions: [String] { get }
  /// The formats that the scanner reports. No other row has them.
  var formats: [AnimationFormat] { get }
  /// How files begin; nil matches any byte. At most 13 bytes.
  var signatures: [[UInt8?]] { get }

  // MARK: Structure

  /// A scanner at the start of a file.
  func makeScanner(_ limits: DecodingLimits) -> any Scanning
  /// The total number of plays of a file of `format` that stores the loop count `count`.
  func playCount(_ count: UInt32, of format: AnimationFormat) -> PlayCount
  /// Whether a file may have a static image that is not a frame.
  var hasStaticImages: Bool { get }
  /// Whether a scanner can find `header`, for one that was stored and may be damaged or forged.
  func isPossible(_ header: ImageHeader) -> Bool
  /// Whether a scanner can find `frame` in a file with this header; both may be damaged or forged.
  func isPossible(_ frame: FrameControl, under header: ImageHeader) -> Bool
  /// Whether these bytes begin like those of a frame.
  func beginsFrame(_ bytes: borrowing RawSpan) -> Bool

  // MARK: Pixels

  /// A decoder for one thread; of the kind ``DecodingOptions/decoder`` if there are two.
  func makeDecoder(_ options: DecodingOptions) -> any FrameDecoding
  /// A decoder for the frame `control`, whose bytes are still arriving.
  func makeArrival(
    _ control: FrameControl, _ header: ImageHeader, _ options: DecodingOptions
  ) throws(AnimatedImageError) -> any ArrivalDecoding
  /// The passes in which the rows of a frame are stored.
  func passCount(of frame: FrameControl) -> Int
  /// Bytes that a decoder stores per pixel.
  func decodedPixelSize(_ header: ImageHeader, _ options: DecodingOptions) -> Int
  /// The memory that decoding a frame of `byteCount` stored bytes takes in addition to its pixels and those
  /// bytes.
  func workingByteCount(for byteCount: Int, _ options: DecodingOptions) -> Int
  /// The layout in which frames become the canvas; nil if they are drawn onto it.
  func inPlaceLayout(_ header: ImageHeader, _ options: DecodingOptions) -> InPlaceLayout?
  /// How a frame is drawn onto an empty canvas so that its stored pixels appear.
  var storedBlend: BlendOperation { get }

  // MARK: Writing

  /// How files of `format` are written; nil if none can be.
  func writable(as format: AnimationFormat) -> WritableFormat?
}

extension FormatCodec {
  package var hasStaticImages: Bool { false }

  package func isPossible(_ header: ImageHeader) -> Bool { !header.canvasSize.isEmpty }

  package func isPossible(_ frame: FrameControl, under header: ImageHeader) -> Bool {
    !frame.rect.isEmpty && PixelRect(header.canvasSize).contains(frame.rect)
  }

  package func passCount(of frame: FrameControl) -> Int { 1 }

  package func inPlaceLayout(_ header: ImageHeader, _ options: DecodingOptions) -> InPlaceLayout? {
    nil
  }

  package var storedBlend: BlendOperation { .source }

  package func writable(as format: AnimationFormat) -> WritableFormat? { nil }

  /// Whether a file of the format may begin with `start`, which may be shorter than the signature.
  func mayBegin(with start: [UInt8]) -> Bool {
    signatures.contains { zip($0, start).allSatisfy { $0 == nil || $0 == $1 } }
  }
}
