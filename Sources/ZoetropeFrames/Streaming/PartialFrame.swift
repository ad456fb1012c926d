internal import Synchronization

/// The frame that is arriving, drawn as far as its bytes have been received.
///
/// Rows that have not arrived show the canvas on which the frame is drawn. In an interlaced frame, each pixel that has
/// arrived also fills the missing pixels of its block, so the whole frame appears early and gets finer with every pass.
public struct PartialFrame: Sendable {
  /// The index of the frame. It equals ``StreamedImage/frameCount`` at the time when the frame was drawn.
  public let index: Int
  /// The whole canvas, with the part of the frame that has arrived drawn onto it.
  public let bitmap: Bitmap
  /// The rectangle of the frame on the canvas. In a GIF, it may extend beyond the canvas.
  public let rect: PixelRect
  /// The number of the frame's rows, counted from the top, in which every pixel is final. For an interlaced frame, this
  /// is 0 until the last pass.
  public let completeRows: Int
  /// The number of the frame's rows, counted from the top, in which part of the frame is visible. It is at least one.
  package let shownRows: Int
  /// The number of interlacing passes that have completely arrived.
  package let completePasses: Int
  /// The number of interlacing passes of the frame: 4 for an interlaced GIF frame, 7 for an interlaced PNG frame,
  /// otherwise 1.
  package let passCount: Int

  /// Whether every pixel of the frame is final. The frame may still be missing from ``StreamedImage/frames``, because
  /// the end of its data has not arrived.
  package var isComplete: Bool { completeRows == rect.height }
}

extension StreamedImage {
  /// Draws the arriving frame as far as its bytes have been received. Returns nil if there is no row to show, as
  /// between two frames. The result is also nil after the end of the stream, because the last frame has then been
  /// either added to ``frames`` or dropped.
  ///
  /// Each request decodes the bytes that arrived since the previous request, on the library's own threads, and copies
  /// the canvas. All requests together therefore decode each frame's bytes once, in addition to any playback of the
  /// stream. The first request for a frame also decodes the earlier frames that it is drawn on. From the first request
  /// until the stream ends, partial frames take the memory of about three canvases plus the pixels of the arriving
  /// frame. Requests run one at a time.
  ///
  /// ```swift
  /// for await _ in image.updates {
  ///   if let partial = try await image.partialFrame() { show(partial.bitmap) }
  /// }
  /// ```
  ///
  /// - Parameter rendering: The size and format of the bitmap. Default: the size and format in which frames are
  ///   decoded. With any other rendering, each request scales or converts the whole bitmap.
  /// - Throws: The errors of ``FrameReader/next()`` for the earlier frames; `limitExceeded` if the frame exceeds
  ///   ``DecodingLimits/liveBytes``; `cancelled`, never `CancellationError`, if the task is cancelled. After an error,
  ///   the next request may succeed. Damage in the frame itself does not throw: the rows before the damage are shown.
  public func partialFrame(
    rendering: Rendering = .init()
  ) async throws(AnimatedImageError) -> PartialFrame? {
    guard !Task.isCancelled else {
      throw AnimatedImageError(.cancelled, "stopped before decoding", format: format)
    }
    guard let reader = core.partialReader() else { return nil }
    return try await reader.value { (reader, flag) throws(AnimatedImageError) in
      try reader.next(rendering) { flag.isRaised }
    }
  }
}

/// Draws the arriving frame on the calling thread, and decodes each of its bytes once. This class is not `Sendable`.
final class PartialReader {
  private let core: StreamCore
  private var frame: ArrivingFrame?
  /// The canvas on which ``frame`` is drawn, or nil until it has been computed.
  private var base: Bitmap?
  /// The reader of the frames before ``frame``, or nil until one of these frames is needed.
  private var reader: SeekingReader?
  private var buffer = ReadBuffer()

  /// The number of bytes that are decoded between two checks for cancellation.
  private static let stepSize = 1 << 17

  init(_ core: StreamCore) { self.core = core }

  func next(
    _ rendering: Rendering = .init(), isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> PartialFrame? {
    guard let (control, header) = try core.arrivingFrame() else {
      frame = nil
      base = nil
      return nil
    }
    let frame = try begun(control, header)
    let source = ReceivedSource(core.received)
    let start = control.byteRange.lowerBound
    while frame.byteCount < control.byteRange.count {
      try check(isCancelled, header)
      let before = frame.byteCount
      let end = min(before + Self.stepSize, control.byteRange.count)
      try source.withBytes(in: start + before..<start + end, buffer: &buffer) { bytes in
        frame.feed(bytes)
      }
      guard frame.byteCount > before else {
        throw AnimatedImageError(
          .io, "bytes that were received can no longer be read", format: header.format,
          byteOffset: start + before)
      }
    }
    let progress = frame.progress
    guard progress.shownRows > 0 else { return nil }
    try check(isCancelled, header)
    let below: Bitmap
    if let base {
      below = base
    } else {
      below = try canvas(before: control.index, header, isCancelled)
      base = below
    }
    var compositor = Compositor()
    compositor.resume(from: below)
    _ = try compositor.draw(frame.pixels, frame.control)
    var bitmap = compositor.canvas.bitmap
    if rendering != Rendering() {
      var renderer = FrameRenderer(rendering, of: header.canvasSize, options: core.options)
      let drawn = CompositedFrame(index: control.index, bitmap: bitmap)
      bitmap = try renderer.render(drawn, isCancelled: isCancelled).bitmap
    }
    return PartialFrame(
      index: control.index, bitmap: bitmap, rect: control.rect,
      completeRows: progress.completeRows, shownRows: progress.shownRows,
      completePasses: progress.completePasses, passCount: header.codec.passCount(of: control))
  }

  private func check(_ isCancelled: () -> Bool, _ header: ImageHeader) throws(AnimatedImageError) {
    guard isCancelled() else { return }
    throw AnimatedImageError(.cancelled, "stopped while decoding", format: header.format)
  }

  /// Returns the arriving frame as the previous request left it. If a different frame is arriving now, begins decoding
  /// that frame and returns it.
  private func begun(
    _ control: FrameControl, _ header: ImageHeader
  ) throws(AnimatedImageError) -> ArrivingFrame {
    if let frame, frame.control.index == control.index,
      frame.control.byteRange.lowerBound == control.byteRange.lowerBound
    {
      return frame
    }
    base = nil
    frame = nil
    let made = try ArrivingFrame(control, header: header, options: core.options)
    frame = made
    return made
  }

  /// Returns the canvas on which frame `index` is drawn.
  private func canvas(
    before index: Int, _ header: ImageHeader, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> Bitmap {
    guard index > 0 else {
      let clear = try Compositor(size: header.canvasSize, format: core.options.canvasFormat)
      return clear.canvas.bitmap
    }
    let reader =
      reader
      ?? SeekingReader(ArrivingImage(core, header), keepsCheckpoints: false, for: .playing)
    self.reader = reader
    _ = try reader.frame(at: index - 1, isCancelled: isCancelled)
    return try reader.canvas()
  }
}
