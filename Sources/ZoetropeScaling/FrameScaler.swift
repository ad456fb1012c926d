/// Scales bitmaps of one size to another, with weights precomputed once.
///
/// Create one scaler per animation and target size, and share it between tasks. Creating a scaler takes a few
/// microseconds per target row and column.
///
/// Results are deterministic: on every machine, and in both ``scale(_:isCancelled:)`` and
/// ``rescale(_:previous:dirty:isCancelled:)``, the same source pixels give bit-identical target pixels. Each channel is
/// within 1 of exact arithmetic.
public struct FrameScaler: Sendable {
  /// The size of source bitmaps.
  package let sourceSize: PixelSize
  /// The size of scaled bitmaps.
  public let size: PixelSize
  /// The resampling filter.
  package let filter: ScalingFilter
  /// Whether to resample in linear light instead of sRGB values.
  package let isLinearLight: Bool
  let plan: Plan

  /// The method of scaling.
  enum Plan: Sendable {
    /// The bitmap is returned unchanged.
    case same
    /// Copies single pixels. Each target column has a source column, and each target row a source
    /// row.
    case pick(columns: [Int32], rows: [Int32])
    /// Computes weighted sums.
    case resample(horizontal: ResamplingKernel, vertical: ResamplingKernel, verticalFirst: Bool)
    /// A side is 0, so there is nothing to draw.
    case nothing
  }

  /// Creates a scaler from `sourceSize` to exactly `size`.
  ///
  /// - Parameters:
  ///   - sourceSize: The size of source bitmaps.
  ///   - size: The size of scaled bitmaps.
  ///   - filter: The resampling filter.
  ///   - linearLight: Whether to resample in linear light, which is slower, but preserves the brightness of fine
  ///     patterns. Default: false, as in browsers and image tools.
  /// - Throws: `parameter` if a side is negative; `limitExceeded` if a side of `size` is above 1,048,576 or a side of
  ///   `sourceSize` is above 67,108,864.
  public init(
    from sourceSize: PixelSize, to size: PixelSize, filter: ScalingFilter = .bilinear,
    linearLight: Bool = false
  ) throws(AnimatedImageError) {
    try Self.check(sourceSize, size)
    self.init(
      from: sourceSize, box: SourceBox(sourceSize), to: size, filter: filter,
      linearLight: linearLight)
  }

  /// Creates a scaler from `sourceSize` into the box `target`, which determines ``size``.
  ///
  /// - Throws: The errors of ``init(from:to:filter:linearLight:)``.
  public init(
    from sourceSize: PixelSize, into target: TargetSize, fit: ScalingFit = .fit,
    filter: ScalingFilter = .bilinear, linearLight: Bool = false
  ) throws(AnimatedImageError) {
    let size = target.size(of: sourceSize, fit: fit)
    try Self.check(sourceSize, size)
    self.init(
      from: sourceSize, box: target.sourceBox(of: sourceSize, size: size, fit: fit), to: size,
      filter: filter, linearLight: linearLight)
  }

  /// The maximum side of a scaled picture. The weights for a side take up to about 100 bytes per pixel, so for a longer
  /// side they would take far more memory than the picture.
  package static let longestSide = 1 << 20

  private static func check(_ source: PixelSize, _ size: PixelSize) throws(AnimatedImageError) {
    guard min(source.width, source.height, size.width, size.height) >= 0 else {
      throw AnimatedImageError(.parameter, "\(source) cannot be scaled to \(size)")
    }
    // The number of weights for a source is about the number of its rows and columns.
    for (size, limit) in [(source, 1 << 26), (size, longestSide)] {
      let side = max(size.width, size.height)
      if side > limit { throw .exceeding(.scaledSide, asked: side, allowed: limit) }
    }
  }

  /// Creates a scaler for sizes that are checked elsewhere.
  package init(
    from sourceSize: PixelSize, box: SourceBox, to size: PixelSize, filter: ScalingFilter,
    linearLight: Bool
  ) {
    self.sourceSize = sourceSize
    self.size = size
    self.filter = filter
    isLinearLight = linearLight && filter != .nearest
    if sourceSize.isEmpty || size.isEmpty {
      plan = .nothing
    } else if size == sourceSize, box.x == 0, box.y == 0,
      box.width == Double(size.width), box.height == Double(size.height)
    {
      plan = .same
    } else if filter == .nearest {
      plan = .pick(
        columns: Self.picks(size.width, from: box.x, box.width, limit: sourceSize.width),
        rows: Self.picks(size.height, from: box.y, box.height, limit: sourceSize.height))
    } else {
      let horizontal = ResamplingKernel(
        sourceCount: sourceSize.width, start: box.x, length: box.width, count: size.width,
        filter: filter, layout: .horizontal)
      let vertical = ResamplingKernel(
        sourceCount: sourceSize.height, start: box.y, length: box.height, count: size.height,
        filter: filter, layout: .vertical)
      plan = .resample(
        horizontal: horizontal, vertical: vertical,
        verticalFirst: Self.isVerticalFirst(sourceSize, size, horizontal, vertical))
    }
  }

  /// Returns the source pixel at the centre of each target pixel.
  private static func picks(
    _ count: Int, from start: Double, _ length: Double, limit: Int
  ) -> [Int32] {
    (0..<count).map {
      let position = start + (Double($0) + 0.5) * length / Double(count)
      return Int32(max(0, min(Int(position.rounded(.down)), limit - 1)))
    }
  }

  /// Returns whether running the vertical pass first is less work. A tap of the horizontal pass
  /// costs about twice as much as a tap of the vertical pass, which runs along the rows.
  private static func isVerticalFirst(
    _ source: PixelSize, _ size: PixelSize, _ horizontal: ResamplingKernel,
    _ vertical: ResamplingKernel
  ) -> Bool {
    let across = 2 * Double(size.width) * Double(horizontal.taps)
    let down = Double(size.height) * Double(vertical.taps)
    let verticalFirst = down * Double(source.width) + across * Double(size.height)
    let horizontalFirst = across * Double(source.height) + down * Double(size.width)
    return verticalFirst <= horizontalFirst
  }
}

extension FrameScaler {
  /// Returns `bitmap` scaled to ``size``, in the same format.
  ///
  /// Colours are weighted by alpha, and a pixel with a resulting alpha of 0 is transparent black.
  /// (``ScalingFilter/nearest`` copies pixels unchanged.) If the sizes are equal, the result is
  /// `bitmap` itself.
  ///
  /// - Parameters:
  ///   - bitmap: A bitmap of `sourceSize`.
  ///   - isCancelled: Polled every few rows. Default: never cancelled.
  /// - Throws: ``AnimatedImageError/Code/cancelled`` if `isCancelled` returns true;
  ///   ``AnimatedImageError/Code/parameter`` if `bitmap` has another size;
  ///   ``AnimatedImageError/Code/outOfMemory`` if allocation fails.
  public func scale(
    _ bitmap: Bitmap, isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) -> Bitmap {
    try check(bitmap)
    if case .same = plan { return bitmap }
    if case .nothing = plan {
      return try PixelBuffer(asking: size, format: bitmap.format).finish()
    }
    if let detour = detour(of: bitmap.format) {
      return try scale(bitmap.converted(to: detour), isCancelled: isCancelled)
        .converted(to: bitmap.format)
    }
    var buffer = try PixelBuffer(asking: size, format: bitmap.format, zeroed: false)
    try draw(bitmap, region: PixelRect(size), into: &buffer, isCancelled: isCancelled)
    return buffer.finish()
  }

  /// Returns `bitmap` scaled to ``size``, recomputing only what depends on `dirty`.
  ///
  /// `previous` must be the result of this scaler (or an equal one) for a bitmap that differs from `bitmap` only in
  /// `dirty`. The result is bit-identical to `scale(bitmap)`, and `dirtyOut` contains every pixel that can differ from
  /// `previous`: `dirty` scaled and grown by the filter's support. Costs a copy of `previous` plus work proportional to
  /// `dirtyOut`. In formats other than 32-bit ones and ``PixelFormat/rgba16``, the whole picture is converted.
  ///
  /// - Throws: The errors of ``scale(_:isCancelled:)``, and `parameter` if `previous` does not have the size ``size``
  ///   and the format of `bitmap`.
  public func rescale(
    _ bitmap: Bitmap, previous: Bitmap, dirty: PixelRect, isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) -> (bitmap: Bitmap, dirtyOut: PixelRect) {
    try check(bitmap)
    guard previous.size == size, previous.format == bitmap.format else {
      throw AnimatedImageError(
        .parameter,
        "the previous picture has \(previous.size) pixels in \(previous.format), not \(size) in \(bitmap.format)"
      )
    }
    let region = touched(by: dirty)
    if region.isEmpty { return (previous, .empty) }
    if region == PixelRect(size) || detour(of: bitmap.format) != nil {
      return (try scale(bitmap, isCancelled: isCancelled), region)
    }
    if case .same = plan { return (bitmap, region) }
    var buffer = try PixelBuffer(asking: size, format: bitmap.format, zeroed: false)
    // Both have the same size and format, and therefore the same layout.
    buffer.copy(previous)
    try draw(bitmap, region: region, into: &buffer, isCancelled: isCancelled)
    return (buffer.finish(), region)
  }

  private func check(_ bitmap: Bitmap) throws(AnimatedImageError) {
    guard bitmap.size == sourceSize else {
      throw AnimatedImageError(
        .parameter, "the bitmap is \(bitmap.size), but this scaler takes \(sourceSize)")
    }
  }

  /// Returns the intermediate format for scaling bitmaps of `format`, or nil if they are scaled directly.
  private func detour(of format: PixelFormat) -> PixelFormat? {
    switch (plan, format) {
    case (.pick, _), (.same, _), (.nothing, _): nil
    case (_, .rgb565), (_, .grey8): .rgbx8
    case (_, .rgba8Premultiplied), (_, .bgra8Premultiplied): isLinearLight ? .rgba8 : nil
    default: nil
    }
  }

  /// Draws `region` of the scaled `bitmap` into `buffer`, which has ``size`` and the bitmap's format. That must be the
  /// format of a canvas, which needs no intermediate format.
  package func redraw(
    _ bitmap: Bitmap, region: PixelRect, into buffer: inout PixelBuffer, isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    precondition(bitmap.size == sourceSize && buffer.size == size && buffer.format == bitmap.format)
    precondition(detour(of: bitmap.format) == nil, "a picture in \(bitmap.format)")
    if case .same = plan { return buffer.copy(bitmap) }
    try draw(bitmap, region: region, into: &buffer, isCancelled: isCancelled)
  }

  private func draw(
    _ bitmap: Bitmap, region: PixelRect, into buffer: inout PixelBuffer,
    isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    switch plan {
    case .same, .nothing: break
    case .pick(let columns, let rows):
      try pick(
        bitmap, columns: columns, rows: rows, region: region, into: &buffer,
        isCancelled: isCancelled)
    case .resample(let horizontal, let vertical, let verticalFirst):
      try resample(
        bitmap, Axes(horizontal: horizontal, vertical: vertical, verticalFirst: verticalFirst),
        region: region, into: &buffer, isCancelled: isCancelled)
    }
  }
}

extension FrameScaler {
  /// The kernels of both axes and the order of the passes.
  struct Axes {
    let horizontal: ResamplingKernel
    let vertical: ResamplingKernel
    let verticalFirst: Bool
  }

  /// Draws `region` with the arithmetic that suits the format.
  func resample(
    _ bitmap: Bitmap, _ axes: Axes, region: PixelRect, into buffer: inout PixelBuffer,
    isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    switch (bitmap.format, isLinearLight) {
    case (.rgba16, false):
      try resample(
        bitmap, axes, StraightCodec16(), region: region, into: &buffer, isCancelled: isCancelled)
    case (.rgba16, true):
      try resample(
        bitmap, axes, LinearCodec16(), region: region, into: &buffer, isCancelled: isCancelled)
    case (_, true):
      try resample(
        bitmap, axes, LinearCodec8(), region: region, into: &buffer, isCancelled: isCancelled)
    case (_, false):
      try resample(
        bitmap, axes, StraightCodec8(), region: region, into: &buffer, isCancelled: isCancelled)
    }
  }

  private func resample<Codec: BlendCodec>(
    _ bitmap: Bitmap, _ axes: Axes, _ codec: Codec, region: PixelRect,
    into buffer: inout PixelBuffer, isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    try RegionScaler.draw(
      codec, bitmap, axes, region: region, into: &buffer, isCancelled: isCancelled)
  }
}
