/// Bounds on what a file may ask for; on by default.
///
/// Passing one of those on pixels, frames and live bytes is an error with the code
/// ``AnimatedImageError/Code/limitExceeded`` whose detail names the limit, what was asked and what is
/// allowed, thrown before memory is taken. Metadata past its limits is left out, and the damage report
/// says so.
public struct DecodingLimits: Sendable, Hashable {
  /// Pixels of the canvas, and of any one frame; a GIF frame past the first that has more ends the list
  /// of frames, and the damage report says so.
  public var canvasPixels: Int
  /// Frames in the file.
  public var frameCount: Int
  /// Bytes that one reader of the image may hold at one time, the source not counted: canvases, frames
  /// decoded, and on each thread that decodes the compressed bytes of a frame, as stored and put together.
  ///
  /// Frames decoded ahead take at most half of it, and of all readers of the process together at most
  /// half of ``MemoryBudget/defaultByteLimit``: what does not fit is decoded when it is asked for.
  public var liveBytes: Int
  /// Pixels that all frame rectangles of one play declare together.
  public var pixelsPerPlay: Int
  /// Bytes of one text or colour-profile chunk after inflating.
  public var metadataBytes: Int
  /// Bytes of all metadata kept, after inflating.
  public var metadataTotalBytes: Int
  /// Comments, text chunks and application blocks kept.
  public var metadataCount: Int

  /// Limits that no honest file meets: 64 megapixels, 100 000 frames, 1 GiB, 2³⁴ pixels a play.
  public static let `default` = DecodingLimits(
    canvasPixels: 64 << 20, frameCount: 100_000, liveBytes: 1 << 30, pixelsPerPlay: 1 << 34,
    metadataBytes: 1 << 20, metadataTotalBytes: 4 << 20, metadataCount: 256)
  /// Limits for files from strangers: 16 megapixels, 10 000 frames, 256 MiB, 2³² pixels a play.
  public static let strict = DecodingLimits(
    canvasPixels: 16 << 20, frameCount: 10_000, liveBytes: 256 << 20, pixelsPerPlay: 1 << 32,
    metadataBytes: 64 << 10, metadataTotalBytes: 256 << 10, metadataCount: 32)
  /// No limit at all: memory and time are the file's to choose.
  public static let none = DecodingLimits(
    canvasPixels: .max, frameCount: .max, liveBytes: .max, pixelsPerPlay: .max,
    metadataBytes: .max, metadataTotalBytes: .max, metadataCount: .max)
}
