/// Limits on the resources that decoding a file may use. On by default.
///
/// Exceeding a pixel, frame or live-byte limit throws ``AnimatedImageError/Code/limitExceeded``
/// before memory is allocated; ``AnimatedImageError/limit`` has the numbers. Metadata past its limits is
/// dropped and reported as damage. To set a limit of your own, copy a preset and change it: `var limits =
/// DecodingLimits.strict; limits.frameCount = 500`.
public struct DecodingLimits: Sendable, Hashable {
  /// Pixels of the canvas, of any one frame, and of a scaled frame. If a GIF frame other than the first exceeds the
  /// limit, the list of frames ends before it, and damage is reported.
  public var canvasPixels: Int
  /// Frames in the file.
  public var frameCount: Int
  /// Bytes that one reader of the image may hold at a time, not counting the source: canvases,
  /// decoded frames and, for each decoding thread, a frame's compressed bytes both as stored and
  /// joined.
  ///
  /// Frames decoded ahead use at most half of this limit. For all readers in the process together,
  /// they use at most half of ``MemoryBudget/defaultByteLimit``. Frames that do not fit are decoded
  /// on demand.
  public var liveBytes: Int
  /// Total pixels of all frame rectangles in one play.
  public var pixelsPerPlay: Int
  /// Bytes of one text or colour-profile chunk after inflating.
  package var metadataBytes: Int
  /// Bytes of all metadata kept, after inflating.
  package var metadataTotalBytes: Int
  /// Comments, text chunks and application blocks kept.
  package var metadataCount: Int

  /// Limits beyond any legitimate file: 64 megapixels, 100 000 frames, 1 GiB, 2³⁴ pixels per play.
  public static let `default` = DecodingLimits(
    canvasPixels: 64 << 20, frameCount: 100_000, liveBytes: 1 << 30, pixelsPerPlay: 1 << 34,
    metadataBytes: 1 << 20, metadataTotalBytes: 4 << 20, metadataCount: 256)
  /// Limits for untrusted files: 16 megapixels, 10 000 frames, 256 MiB, 2³² pixels per play.
  public static let strict = DecodingLimits(
    canvasPixels: 16 << 20, frameCount: 10_000, liveBytes: 256 << 20, pixelsPerPlay: 1 << 32,
    metadataBytes: 64 << 10, metadataTotalBytes: 256 << 10, metadataCount: 32)
  /// No limits. The file decides how much memory and time decoding takes.
  public static let none = DecodingLimits(
    canvasPixels: .max, frameCount: .max, liveBytes: .max, pixelsPerPlay: .max,
    metadataBytes: .max, metadataTotalBytes: .max, metadataCount: .max)
}
