/// Limits on the resources that decoding a file may use. By default, decoding uses ``DecodingLimits/default``.
///
/// If a file would exceed a limit on pixels, frames or memory, ``AnimatedImageError/Code/limitExceeded`` is thrown
/// before memory is allocated, and ``AnimatedImageError/limit`` contains the value found and the allowed value.
/// Metadata that exceeds its limits is dropped and reported as damage. To set a limit of your own, copy a preset and
/// change the copy: `var limits = DecodingLimits.strict; limits.frameCount = 500`.
public struct DecodingLimits: Sendable, Hashable {
  /// The maximum number of pixels of the canvas, of each frame, and of a scaled frame. If a GIF frame other than the
  /// first one exceeds the limit, the list of frames ends before that frame, and damage is reported.
  public var canvasPixels: Int
  /// The maximum number of frames in the file.
  public var frameCount: Int
  /// The maximum number of bytes that one reader of the image may hold at a time, not counting the source. The limit
  /// covers canvases, decoded frames and, for each decoding thread, two copies of a frame's compressed bytes: one as
  /// the file stores them, split into blocks or chunks, and one in which they are joined together.
  ///
  /// Opening throws `limitExceeded` if the canvas, the largest frame and the two copies of compressed bytes exceed the
  /// limit. A canvas takes 4 bytes per pixel, or 8 with 16 bits per channel, and twice as much if any frame has the
  /// disposal *previous*. A decoded frame takes 1 byte per pixel in a GIF and up to 4 in an APNG (8 with 16 bits per
  /// channel), rounded up by at most a quarter. Apart from compressed bytes, 4096x4096 pixels therefore need 84 MiB in a
  /// GIF, and 144 MiB in an APNG with RGBA.
  ///
  /// The frames that one reader decodes ahead use at most half of this limit. The frames that all readers in the
  /// process decode ahead together use at most half of ``MemoryBudget/defaultByteLimit``. Frames that do not fit are
  /// decoded on demand.
  public var liveBytes: Int
  /// The maximum total number of pixels of all frame rectangles in one play of the animation.
  public var pixelsPerPlay: Int
  /// The maximum number of bytes of one text or colour profile, after inflating.
  public var metadataBytes: Int
  /// The maximum number of bytes of all metadata kept, after inflating.
  public var metadataTotalBytes: Int
  /// The maximum number of comments, text chunks and application blocks kept.
  public var metadataCount: Int

  /// Limits that no legitimate file exceeds: a canvas of 64 megapixels, 100,000 frames, 1 GiB of live bytes, 2³⁴
  /// pixels per play, 1 MiB per text or profile, and 4 MiB and 256 items of metadata.
  public static let `default` = DecodingLimits(
    canvasPixels: 64 << 20, frameCount: 100_000, liveBytes: 1 << 30, pixelsPerPlay: 1 << 34,
    metadataBytes: 1 << 20, metadataTotalBytes: 4 << 20, metadataCount: 256)
  /// Limits for untrusted files: a canvas of 16 megapixels, 10,000 frames, 256 MiB of live bytes, 2³² pixels per play,
  /// 64 KiB per text or profile, and 256 KiB and 32 items of metadata.
  public static let strict = DecodingLimits(
    canvasPixels: 16 << 20, frameCount: 10_000, liveBytes: 256 << 20, pixelsPerPlay: 1 << 32,
    metadataBytes: 64 << 10, metadataTotalBytes: 256 << 10, metadataCount: 32)
  /// No limits. The file decides how much memory and time decoding takes.
  public static let none = DecodingLimits(
    canvasPixels: .max, frameCount: .max, liveBytes: .max, pixelsPerPlay: .max,
    metadataBytes: .max, metadataTotalBytes: .max, metadataCount: .max)
}
