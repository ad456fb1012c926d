internal import Synchronization

/// Renders composited frames as bitmaps of one ``Rendition``.
///
/// If a frame directly follows the frame rendered last, only the changed part of the frame is scaled and converted. If
/// a bitmap of an earlier frame is reused, only the outdated parts of the bitmap are copied.
package struct FrameRenderer: Sendable {
  package let rendition: Rendition
  package let rendering: Rendering
  /// The scaler of the frames, or nil if frames keep the canvas size or cannot be rendered.
  package let scaler: FrameScaler?
  /// The frame rendered last, scaled and converted, or nil before the first frame.
  private var last: RenderedFrame?
  /// The error to throw if rendered frames would be too large, otherwise nil. If there is an error, there is no
  /// ``scaler``.
  private let refusal: AnimatedImageError?

  /// The number of bytes of the bitmaps that are kept to render the next frame, or 0 if frames are used as decoded.
  package var bitmapCost: Int {
    if refusal != nil { return 0 }
    let formats =
      (scaler == nil ? [] : [rendition.canvasFormat])
      + (rendition.format == rendition.canvasFormat ? [] : [rendition.format])
    return formats.reduce(0) { $0 + $1.cost(of: rendition.size) }
  }

  /// Creates a renderer of the frames of an image that has the size `canvasSize` and was opened with `options`.
  package init(_ rendering: Rendering, of canvasSize: PixelSize, options: DecodingOptions) {
    self.rendering = rendering
    rendition = Rendition(rendering, of: canvasSize, options: options)
    refusal = rendition.refusal(options.limits)
    if refusal == nil, rendition.scaling != nil, let target = rendering.target {
      scaler = FrameScaler(
        from: canvasSize,
        box: target.sourceBox(of: canvasSize, size: rendition.size, fit: rendering.fit),
        to: rendition.size, filter: rendering.filter, linearLight: rendering.linearLight)
    } else {
      scaler = nil
    }
  }

  /// Throws an error if frames cannot be rendered. Call this method before reading a frame, because reading may take
  /// long.
  ///
  /// - Throws: `limitExceeded` if rendered frames would be too large.
  package func check() throws(AnimatedImageError) {
    if let refusal { throw refusal }
  }

  /// Renders `frame`. If `frame` directly follows the frame rendered last, the dirty rectangle of `frame` must be
  /// relative to that frame.
  ///
  /// - Throws: `cancelled` between rows once `isCancelled` returns true; `limitExceeded` if rendered frames would be
  ///   too large; `outOfMemory` if a bitmap cannot be allocated.
  package mutating func render(
    _ frame: CompositedFrame, isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) -> CompositedFrame {
    try check()
    // The last frame is removed first, so that no later frame builds on it if rendering fails half-way. If a copy of
    // this renderer shares the canvases of the last frame, this renderer gets new canvases.
    var taken = last.take()
    let isOwned = isKnownUniquelyReferenced(&taken)
    let rendered = if isOwned, let taken { taken } else { RenderedFrame() }
    let follows = isOwned && rendered.index.load(ordering: .relaxed) + 1 == frame.index
    var bitmap = frame.bitmap
    var dirty = frame.dirtyRect
    if let scaler {
      let changed = follows ? dirty : PixelRect(bitmap.size)
      (bitmap, dirty) = try rendered.scale(bitmap, changed: changed, scaler, isCancelled)
    }
    if let drawing = rendition.drawing {
      bitmap = try drawing.applied(to: bitmap).converted(to: rendition.format)
    } else if rendition.format != bitmap.format {
      let changed = follows ? dirty : PixelRect(bitmap.size)
      bitmap = try rendered.convert(bitmap, to: rendition.format, changed: changed)
    }
    rendered.index.store(frame.index, ordering: .relaxed)
    last = rendered
    return CompositedFrame(
      index: frame.index, bitmap: bitmap, dirtyRect: dirty, damage: frame.damage)
  }

  package mutating func rest() {
    guard isKnownUniquelyReferenced(&last) else { return }
    last?.rest()
  }
}

/// The canvases onto which successive frames are scaled and converted.
private final class RenderedFrame: Sendable {
  // These locks are never contended: only a `FrameRenderer` holds references to an instance, and it uses the instance
  // only if its reference is the only one.
  let index = Atomic(-1)
  private let scaled = Mutex<Canvas?>(nil)
  private let converted = Mutex<Canvas?>(nil)

  /// Updates the scaled bitmap after the rectangle `changed` of `bitmap` has changed. Returns the scaled bitmap, and
  /// the region of it that was redrawn. For the first frame, `changed` must be the whole bitmap.
  func scale(
    _ bitmap: Bitmap, changed: PixelRect, _ scaler: FrameScaler, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> (Bitmap, dirty: PixelRect) {
    let isWhole = changed == PixelRect(bitmap.size)
    let region = isWhole ? PixelRect(scaler.size) : scaler.touched(by: changed)
    let picture = try Self.redraw(scaled, scaler.size, bitmap.format, region) {
      (buffer) throws(AnimatedImageError) in
      try scaler.redraw(bitmap, region: region, into: &buffer, isCancelled: isCancelled)
    }
    return (picture, region)
  }

  /// Converts the rows of `bitmap` that `changed` touches, and returns the converted bitmap. For the first frame,
  /// `changed` must be the whole bitmap.
  func convert(
    _ bitmap: Bitmap, to format: PixelFormat, changed: PixelRect
  ) throws(AnimatedImageError) -> Bitmap {
    let rows = PixelRect(x: 0, y: changed.y, width: bitmap.width, height: changed.height)
    return try Self.redraw(converted, bitmap.size, format, changed.isEmpty ? .empty : rows) {
      (buffer) throws(AnimatedImageError) in
      try bitmap.convert(rows: rows.y..<rows.maxY, into: &buffer)
    }
  }

  /// Redraws `region` of `canvas`, and returns the bitmap of the canvas. For the first frame, the canvas is created.
  private static func redraw(
    _ canvas: borrowing Mutex<Canvas?>, _ size: PixelSize, _ format: PixelFormat,
    _ region: PixelRect, _ draw: (inout PixelBuffer) throws(AnimatedImageError) -> Void
  ) throws(AnimatedImageError) -> Bitmap {
    try canvas.withLock { (canvas) throws(AnimatedImageError) in
      var drawn =
        if let last = canvas.take() { last } else {
          try Canvas(size: size, format: format, zeroed: false)
        }
      if !region.isEmpty { try drawn.redraw(region, draw) }
      let bitmap = drawn.bitmap
      canvas = consume drawn
      return bitmap
    }
  }

  func rest() {
    scaled.withLock { $0?.rest() }
    converted.withLock { $0?.rest() }
  }
}
