/// Scales pictures of one size to another: what can be worked out once is worked out when made.
///
/// A value to make once per animation and target size, and to share between tasks. Making one
/// costs some microseconds per target row and column.
///
/// Results are the same however they are come by: the same source pixels give the same target
/// pixels, bit by bit, in ``scale(_:)`` and ``rescale(_:previous:dirty:)``, on every machine.
/// Each channel is within 1 of what exact arithmetic gives.
public struct FrameScaler: Sendable {
  /// The size of the pictures that go in.
  public let sourceSize: PixelSize
  /// The size of the pictures that come out.
  public let size: PixelSize
  /// How pixels are weighed.
  public let filter: ScalingFilter
  /// Whether colours are weighed as light rather than as coded.
  public let isLinearLight: Bool
  let plan: Plan

  /// What is done to every picture.
  enum Plan: Sendable {
    /// The picture goes out as it came.
    case same
    /// Pixels are picked: the source column of each column, and the source row of each row.
    case pick(columns: [Int32], rows: [Int32])
    /// Pixels are weighed.
    case resample(horizontal: ResamplingKernel, vertical: ResamplingKernel, verticalFirst: Bool)
    /// A side is 0: nothing to draw.
    case nothing
  }

  /// Scales whole pictures of `sourceSize` to exactly `size`.
  ///
  /// - Parameters:
  ///   - sourceSize: The size of the pictures that go in.
  ///   - size: The size of the pictures that come out.
  ///   - filter: How pixels are weighed.
  ///   - linearLight: Weighs sRGB colours as light: slower, and right for the brightness of fine
  ///     patterns. Off by default, as in browsers and image tools.
  public init(
    from sourceSize: PixelSize, to size: PixelSize, filter: ScalingFilter = .bilinear,
    linearLight: Bool = false
  ) {
    let box = SourceBox(
      x: 0, y: 0, width: Double(sourceSize.width), height: Double(sourceSize.height))
    self.init(
      from: sourceSize, box: box, to: size, filter: filter, linearLight: linearLight)
  }

  /// Scales pictures of `sourceSize` into the box `target`; ``size`` says what came of it.
  public init(
    from sourceSize: PixelSize, into target: TargetSize, fit: ScalingFit = .fit,
    filter: ScalingFilter = .bilinear, linearLight: Bool = false
  ) {
    let size = target.size(of: sourceSize, fit: fit)
    self.init(
      from: sourceSize, box: target.sourceBox(of: sourceSize, size: size, fit: fit), to: size,
      filter: filter, linearLight: linearLight)
  }

  init(
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

  /// The source pixel under the middle of each target pixel.
  private static func picks(
    _ count: Int, from start: Double, _ length: Double, limit: Int
  ) -> [Int32] {
    (0..<count).map {
      let position = start + (Double($0) + 0.5) * length / Double(count)
      return Int32(max(0, min(Int(position.rounded(.down)), limit - 1)))
    }
  }

  /// Which pass goes first: the order with less work, where a tap of the horizontal pass costs
  /// about twice one of the vertical, which runs along the rows.
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
  /// The picture at ``size``, in the format it came in.
  ///
  /// Alpha-correct: colours count by their alpha, and a pixel whose alpha comes out as 0 is
  /// transparent black. (``ScalingFilter/nearest`` copies pixels as they are.) With equal sizes
  /// the result is the picture itself, not a copy. The process ends when the system has no memory
  /// for the result; ``scale(_:isCancelled:)`` throws then.
  ///
  /// - Precondition: the picture has ``sourceSize``.
  public func scale(_ bitmap: Bitmap) -> Bitmap {
    do {
      return try scale(bitmap) { false }
    } catch {
      fatalError("\(error)")
    }
  }

  /// As ``scale(_:)``, asking `isCancelled` every few rows.
  ///
  /// - Throws: ``AnimatedImageError/Code/cancelled`` when `isCancelled` says true; what was
  ///   drawn is dropped. ``AnimatedImageError/Code/limitExceeded`` when the system has no memory
  ///   for the result.
  /// - Precondition: the picture has ``sourceSize``.
  public func scale(
    _ bitmap: Bitmap, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> Bitmap {
    precondition(bitmap.size == sourceSize, "a picture of \(bitmap.size), not \(sourceSize)")
    if case .same = plan { return bitmap }
    if case .nothing = plan {
      return try PixelBuffer(asking: size, format: bitmap.format).finish()
    }
    if let detour = detour(of: bitmap.format) {
      return try scale(bitmap.converted(asking: detour), isCancelled: isCancelled)
        .converted(asking: bitmap.format)
    }
    var buffer = try PixelBuffer(asking: size, format: bitmap.format, zeroed: false)
    try draw(bitmap, region: PixelRect(size), into: &buffer, isCancelled: isCancelled)
    return buffer.finish()
  }

  /// The picture at ``size``, recomputing only what `dirty` has touched.
  ///
  /// `previous` is what this scaler (or an equal one) made of a picture that differs from
  /// `bitmap` nowhere but in `dirty`. The result is bit-identical to `scale(bitmap)`, and
  /// `dirtyOut` holds every pixel in which it can differ from `previous`: `dirty` scaled and
  /// grown by the filter's reach. Costs a copy of `previous` plus the share of the work that
  /// `dirtyOut` is of the picture; formats other than 32-bit and ``PixelFormat/rgba16`` are
  /// converted whole.
  ///
  /// - Precondition: the picture has ``sourceSize``; `previous` has ``size`` and its format.
  public func rescale(
    _ bitmap: Bitmap, previous: Bitmap, dirty: PixelRect
  ) -> (bitmap: Bitmap, dirtyOut: PixelRect) {
    do {
      return try rescale(bitmap, previous: previous, dirty: dirty) { false }
    } catch {
      fatalError("\(error)")
    }
  }

  /// As ``rescale(_:previous:dirty:)``.
  ///
  /// - Throws: As ``scale(_:isCancelled:)``.
  package func rescale(
    _ bitmap: Bitmap, previous: Bitmap, dirty: PixelRect, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> (bitmap: Bitmap, dirtyOut: PixelRect) {
    precondition(
      previous.size == size && previous.format == bitmap.format,
      "a previous picture of \(previous.size) in \(previous.format)")
    let region = touched(by: dirty)
    if region.isEmpty { return (previous, .empty) }
    if region == PixelRect(size) || detour(of: bitmap.format) != nil {
      return (try scale(bitmap, isCancelled: isCancelled), region)
    }
    precondition(bitmap.size == sourceSize, "a picture of \(bitmap.size), not \(sourceSize)")
    if case .same = plan { return (bitmap, region) }
    var buffer = try PixelBuffer(asking: size, format: bitmap.format, zeroed: false)
    // Of the same size and format, so of the same layout.
    buffer.copy(previous)
    try draw(bitmap, region: region, into: &buffer, isCancelled: isCancelled)
    return (buffer.finish(), region)
  }

  /// The target pixels that depend on source pixels in `dirty`; empty when none does.
  public func touched(by dirty: PixelRect) -> PixelRect {
    let inside = dirty.intersection(PixelRect(sourceSize))
    guard !inside.isEmpty else { return .empty }
    let columns: Range<Int>
    let rows: Range<Int>
    switch plan {
    case .nothing: return .empty
    case .same: return inside
    case .pick(let columnPicks, let rowPicks):
      columns = Self.span(of: inside.x..<inside.maxX, in: columnPicks)
      rows = Self.span(of: inside.y..<inside.maxY, in: rowPicks)
    case .resample(let horizontal, let vertical, _):
      columns = horizontal.targets(touching: inside.x..<inside.maxX)
      rows = vertical.targets(touching: inside.y..<inside.maxY)
    }
    guard !columns.isEmpty, !rows.isEmpty else { return .empty }
    return PixelRect(
      x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count)
  }

  /// The indices of the picks that lie in `range`; picks grow with their index.
  private static func span(of range: Range<Int>, in picks: [Int32]) -> Range<Int> {
    let first = picks.firstIndex { $0 >= range.lowerBound } ?? picks.count
    let last = picks.firstIndex { $0 >= range.upperBound } ?? picks.count
    return first..<last
  }

  /// The format in which pictures of `format` are scaled, when not in their own.
  private func detour(of format: PixelFormat) -> PixelFormat? {
    switch (plan, format) {
    case (.pick, _), (.same, _), (.nothing, _): nil
    case (_, .rgb565), (_, .grey8): .rgbx8
    case (_, .rgba8Premultiplied): isLinearLight ? .rgba8 : nil
    default: nil
    }
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
  /// The kernels of both axes and their order.
  struct Axes {
    let horizontal: ResamplingKernel
    let vertical: ResamplingKernel
    let verticalFirst: Bool
  }

  /// Chooses the arithmetic by format, and draws `region`.
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
