/// Everything that the engine needs to know about a file format: one row of the ``FormatTable``.
///
/// A conforming type has no state. Its source file is in the folder of the format, together with the scanner and the
/// decoders. A loop over bytes or pixels runs inside a single call per block or frame, so that the compiler knows all
/// types in the loop.
package protocol FormatCodec: Sendable {
  /// The name that users see, such as "GIF".
  var name: String { get }
  /// The usual file name extensions, without the dot. Files that are written have the first one.
  var fileExtensions: [String] { get }
  /// The formats that the scanner reports. Each format belongs to one codec of ``FormatTable`` only.
  var formats: [AnimationFormat] { get }
  /// The signatures with which files of the format begin, each at most 13 bytes long. A nil element matches any byte.
  var signatures: [[UInt8?]] { get }

  // MARK: Structure

  /// Creates a scanner at the start of a file.
  func makeScanner(_ limits: DecodingLimits) -> any Scanning
  /// Returns the total number of plays of a file of `format` that stores the loop count `count`.
  func playCount(_ count: UInt32, of format: AnimationFormat) -> PlayCount
  /// Whether a file may have a static image that is not a frame.
  var hasStaticImages: Bool { get }
  /// Returns whether a scanner could have produced `header`, which was read from a record and may be damaged or forged.
  func isPossible(_ header: ImageHeader) -> Bool
  /// Returns whether a scanner could have produced `frame` for a file with this header. Frame and header may be damaged
  /// or forged.
  func isPossible(_ frame: FrameControl, under header: ImageHeader) -> Bool
  /// Returns whether `bytes` begin like a frame.
  func beginsFrame(_ bytes: borrowing RawSpan) -> Bool

  // MARK: Pixels

  /// Creates a decoder for one thread. If the format has several decoders, ``DecodingOptions/decoder`` selects one.
  func makeDecoder(_ options: DecodingOptions) -> any FrameDecoding
  /// Creates a decoder for the frame `control`, whose bytes are still arriving.
  func makeArrival(
    _ control: FrameControl, _ header: ImageHeader, _ options: DecodingOptions
  ) throws(AnimatedImageError) -> any ArrivalDecoding
  /// Returns the number of passes in which the rows of a frame are stored.
  func passCount(of frame: FrameControl) -> Int
  /// Returns the number of bytes that a decoder stores per pixel.
  func decodedPixelSize(_ header: ImageHeader, _ options: DecodingOptions) -> Int
  /// Returns the memory, in bytes, needed to decode a frame of `byteCount` stored bytes, in addition to the stored
  /// bytes and the decoded pixels.
  func workingByteCount(for byteCount: Int, _ options: DecodingOptions) -> Int
  /// Returns the memory layout of frames whose block becomes the canvas, or nil if all frames are drawn onto the
  /// canvas.
  func inPlaceLayout(_ header: ImageHeader, _ options: DecodingOptions) -> InPlaceLayout?
  /// The blend operation that draws the pixels of a frame onto an empty canvas exactly as they are stored.
  var storedBlend: BlendOperation { get }

  // MARK: Writing

  /// Returns how files of `format` are written, or nil if they cannot be written.
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

  /// The first of the formats in which animations can be written, or nil if there is none.
  package var writtenFormat: AnimationFormat? { formats.first { writable(as: $0) != nil } }

  /// Returns whether a file of the format may begin with `start`, which may be shorter than the signature.
  func mayBegin(with start: [UInt8]) -> Bool {
    signatures.contains { zip($0, start).allSatisfy { $0 == nil || $0 == $1 } }
  }
}
