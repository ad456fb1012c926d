internal import Synchronization

/// Renders composited frames as bitmaps of one ``Rendition``.
///
/// If a frame directly follows the last one, only its changed part is scaled and converted. If a bitmap is reused, only
/// its outdated parts are copied.
package struct FrameRenderer: Sendable {
  package let rendition: Rendition
  package let rendering: Rendering
  /// Nil if frames keep the canvas size.
  package let scaler: FrameScaler?
  /// The last frame, scaled and converted; nil before the first one.
  private var last: RenderedFrame?
  /// The error to throw if frames would be too large; there is no scaler then.
  private let refusal: AnimatedImageError?

  /// Bytes of the bitmaps kept for the next frame; 0 if frames are used as decoded.
  package var bitmapCost: Int {
    if refusal != nil { return 0 }
    let formats =
      (scaler == nil ? [] : [rendition.canvasFormat])
      + (rendition.format == rendition.canvasFormat ? [] : [rendition.format])
    return formats.reduce(0) { $0 + $1.cost(of: rendition.size) }
  }

  /// Creates a renderer of frames of `canvasSize`, opened with `options`.
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

  /// Throws if frames cannot be rendered. Call it before reading a frame, which may take long.
  ///
  /// - Throws: `limitExceeded` if frames would be too large.
  package func check() throws(AnimatedImageError) {
    if let refusal { throw refusal }
  }

  /// Renders `frame`. If it directly follows the last rendered frame, its dirty rectangle must be relative to that
  /// frame.
  ///
  /// - Throws: `cancelled` between rows once `isCancelled` returns true; `limitExceeded` if frames would
  ///   be too large or allocation fails.
  package mutating func render(
    _ frame: CompositedFrame, isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) -> CompositedFrame {
    try check()
    // Take the last frame out, so that no later frame builds on it if rendering fails half-way. If a copy of this
    // renderer shares the canvases, this renderer gets new ones.
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

/// The canvases on which successive frames are scaled and converted.
private final class RenderedFrame: Sendable {
  // Only `FrameRenderer` holds references, and it uses an instance only if its reference is unique, so these locks are
  // never contended.
  let index = Atomic(-1)
  private let scaled = Mutex<Canvas?>(nil)
  private let converted = Mutex<Canvas?>(nil)

  /// Scales the pixels that depend on `changed`, which is the whole bitmap for the first frame.
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

  /// Converts the rows of `changed`, which is the whole bitmap for the first frame.
  func convert(
    _ bitmap: Bitmap, to format: PixelFormat, changed: PixelRect
  ) throws(AnimatedImageError) -> Bitmap {
    let rows = PixelRect(x: 0, y: changed.y, width: bitmap.width, height: changed.height)
    return try Self.redraw(converted, bitmap.size, format, changed.isEmpty ? .empty : rows) {
      (buffer) throws(AnimatedImageError) in
      try bitmap.convert(rows: rows.y..<rows.maxY, into: &buffer)
    }
  }

  /// Draws `region` of `canvas`. The canvas is created for the first frame.
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
