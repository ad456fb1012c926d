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
