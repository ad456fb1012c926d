/// Scales bitmaps of one size to another size, with weights that are computed only once.
///
/// Create one scaler per animation and target size, and share the scaler between tasks. Creating a scaler takes a few
/// microseconds per target row and column.
///
/// The results are deterministic: on every machine, and with both ``scale(_:isCancelled:)`` and
/// ``rescale(_:previous:changed:isCancelled:)``, the same source pixels give bit-identical target pixels. Each channel
/// differs by at most 1 from the result of exact arithmetic.
public struct FrameScaler: Sendable {
  /// The size of the bitmaps to scale.
  package let sourceSize: PixelSize
  /// The size of the scaled bitmaps.
  public let size: PixelSize
  /// Whether to resample in linear light instead of sRGB values.
  package let isLinearLight: Bool
  let plan: Plan

  /// The method of scaling.
  enum Plan: Sendable {
    /// The bitmap is returned unchanged.
    case same
    /// Each target pixel is a copy of one source pixel. The arrays contain the source column of each target column, and
    /// the source row of each target row.
    case pick(columns: [Int32], rows: [Int32])
    /// Each target pixel is a weighted sum of source pixels.
    case resample(Axes)
    /// The bitmaps have no pixels, so there is nothing to draw.
    case nothing
  }

  /// The kernels of both axes and the order of the passes.
  struct Axes: Sendable {
    let horizontal: ResamplingKernel
    let vertical: ResamplingKernel
    let verticalFirst: Bool
  }

  /// Creates a scaler from bitmaps of `sourceSize` to bitmaps of exactly `size`.
  ///
  /// - Parameters:
  ///   - sourceSize: The size of the bitmaps to scale.
  ///   - size: The size of the scaled bitmaps.
  ///   - filter: The resampling filter. Default: ``ScalingFilter/bilinear``.
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

  /// Creates a scaler from bitmaps of `sourceSize` to bitmaps that are fitted into the box `target`, which determines
  /// ``size``.
  ///
  /// The default of `fit` is ``ScalingFit/fit``. The other parameters are those of
  /// ``init(from:to:filter:linearLight:)``.
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

  /// The maximum side of a scaled bitmap. The weights take up to about 100 bytes per pixel of a side, so for a longer
  /// side they could take far more memory than the bitmap.
  package static let longestSide = 1 << 20

  private static func check(_ source: PixelSize, _ size: PixelSize) throws(AnimatedImageError) {
    guard min(source.width, source.height, size.width, size.height) >= 0 else {
      throw AnimatedImageError(.parameter, "a picture of \(source) cannot be scaled to \(size)")
    }
    // A source is also limited, because the number of weights depends on it: there are about as many as the source has
    // rows and columns.
    for (size, limit) in [(source, 1 << 26), (size, longestSide)] {
      let side = max(size.width, size.height)
      if side > limit { throw .exceeding(.scaledSide, found: side, allowed: limit) }
    }
  }

  /// Creates a scaler. The caller must have checked the sizes.
  package init(
    from sourceSize: PixelSize, box: SourceBox, to size: PixelSize, filter: ScalingFilter,
    linearLight: Bool
  ) {
    self.sourceSize = sourceSize
    self.size = size
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
        Axes(
          horizontal: horizontal, vertical: vertical,
          verticalFirst: Self.isVerticalFirst(sourceSize, size, horizontal, vertical)))
    }
  }

  /// Returns, for each target pixel along one axis, the source pixel that contains its centre.
  private static func picks(
    _ count: Int, from start: Double, _ length: Double, limit: Int
  ) -> [Int32] {
    (0..<count).map {
      let position = start + (Double($0) + 0.5) * length / Double(count)
      return Int32(max(0, min(Int(position.rounded(.down)), limit - 1)))
    }
  }

  /// Returns whether running the vertical pass first is less work than running the horizontal pass first. A tap of the
  /// horizontal pass costs about twice as much as a tap of the vertical pass, which runs along the rows.
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
  /// Colours are weighted by alpha, and a pixel whose resulting alpha is 0 becomes transparent black.
  /// (``ScalingFilter/nearest`` copies pixels unchanged.) If nothing has to be scaled, the result is `bitmap` itself.
  ///
  /// - Parameters:
  ///   - bitmap: A bitmap of the size for which the scaler was created.
  ///   - isCancelled: A closure that is called every few rows and returns whether to stop. Default: a closure that
  ///     returns false.
  /// - Throws: ``AnimatedImageError/Code/cancelled`` if `isCancelled` returns true;
  ///   ``AnimatedImageError/Code/parameter`` if `bitmap` has another size; ``AnimatedImageError/Code/outOfMemory`` if
  ///   allocation fails.
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

  /// Returns `bitmap` scaled to ``size``, and recomputes only the pixels that depend on `changed`.
  ///
  /// `previous` must be the result of this scaler, or of an equal scaler, for a bitmap that differs from `bitmap` only
  /// in `changed`. The returned bitmap is bit-identical to `scale(bitmap)`, and `dirtyRect` contains every pixel that
  /// can differ from `previous`: the rectangle `changed`, scaled and grown by the filter's support. The cost is that of
  /// copying `previous`, plus work proportional to the area of `dirtyRect`. Bitmaps that have to be converted for
  /// scaling are scaled as a whole: with filters other than ``ScalingFilter/nearest``, these are bitmaps in
  /// ``PixelFormat/rgb565`` and ``PixelFormat/gray8``, and premultiplied bitmaps in linear light.
  ///
  /// - Throws: The errors of ``scale(_:isCancelled:)``, and `parameter` if `previous` does not have the size ``size``
  ///   and the format of `bitmap`.
  public func rescale(
    _ bitmap: Bitmap, previous: Bitmap, changed: PixelRect, isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) -> (bitmap: Bitmap, dirtyRect: PixelRect) {
    try check(bitmap)
    guard previous.size == size, previous.format == bitmap.format else {
      throw AnimatedImageError(
        .parameter,
        "the previous picture is \(previous.size) in \(previous.format), but must be \(size) in "
          + "\(bitmap.format)"
      )
    }
    let region = touched(by: changed)
    if region.isEmpty { return (previous, .empty) }
    if region == PixelRect(size) || detour(of: bitmap.format) != nil {
      return (try scale(bitmap, isCancelled: isCancelled), region)
    }
    if case .same = plan { return (bitmap, region) }
    var buffer = try PixelBuffer(asking: size, format: bitmap.format, zeroed: false)
    // The buffer and the previous bitmap have the same size and format, and therefore the same layout.
    buffer.copy(previous)
    try draw(bitmap, region: region, into: &buffer, isCancelled: isCancelled)
    return (buffer.finish(), region)
  }

  private func check(_ bitmap: Bitmap) throws(AnimatedImageError) {
    guard bitmap.size == sourceSize else {
      throw AnimatedImageError(
        .parameter, "the bitmap is \(bitmap.size), but the scaler expects \(sourceSize)")
    }
  }

  /// Returns the intermediate format in which bitmaps of `format` are scaled, or nil if they are scaled in `format`.
  private func detour(of format: PixelFormat) -> PixelFormat? {
    switch (plan, format) {
    case (.pick, _), (.same, _), (.nothing, _): nil
    case (_, .rgb565), (_, .gray8): .rgbx8
    case (_, .rgba8Premultiplied), (_, .bgra8Premultiplied): isLinearLight ? .rgba8 : nil
    default: nil
    }
  }

  /// Draws `region` of the scaled `bitmap` into `buffer`, which has the size ``size`` and the format of `bitmap`. The
  /// format must be one in which canvases are decoded, because these formats need no intermediate format.
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
    case .resample(let axes):
      try resample(bitmap, axes, region: region, into: &buffer, isCancelled: isCancelled)
    }
  }

  /// Draws `region` with the arithmetic for the bitmap's format.
  private func resample(
    _ bitmap: Bitmap, _ axes: Axes, region: PixelRect, into buffer: inout PixelBuffer,
    isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    switch (bitmap.format, isLinearLight) {
    case (.rgba16, false):
      try RegionScaler.draw(
        StraightCodec16(), bitmap, axes, region: region, into: &buffer, isCancelled: isCancelled)
    case (.rgba16, true):
      try RegionScaler.draw(
        LinearCodec16(), bitmap, axes, region: region, into: &buffer, isCancelled: isCancelled)
    case (_, true):
      try RegionScaler.draw(
        LinearCodec8(), bitmap, axes, region: region, into: &buffer, isCancelled: isCancelled)
    case (_, false):
      try RegionScaler.draw(
        StraightCodec8(), bitmap, axes, region: region, into: &buffer, isCancelled: isCancelled)
    }
  }
}
