/// How many bytes an edited animation may have.
///
/// ``AnimatedImage/write(_:options:to:progress:)`` then searches for the mildest settings that fit. Metadata is
/// dropped, even if there is room for it, unless all frames are copied. Then, in this order, the search spends more
/// time on compression, allows similar colours (``EditOptions/tolerance``), uses fewer colours, drops frames down to 10 per second while keeping the duration,
/// and scales pictures down to a fifth. It encodes at most six files, besides samples, and keeps the best one in
/// memory. If none fits, it throws ``AnimatedImageError/Code/limitExceeded``, and nothing is written.
public struct ByteBudget: Sendable, Hashable {
  /// The most bytes of the file.
  public var byteLimit: Int
  /// Whether pictures keep their size. Default: false.
  public var keepsSize: Bool
  /// Whether all frames are kept. Default: false.
  public var keepsFrameRate: Bool

  /// Creates a budget.
  public init(byteLimit: Int, keepsSize: Bool = false, keepsFrameRate: Bool = false) {
    self.byteLimit = byteLimit
    self.keepsSize = keepsSize
    self.keepsFrameRate = keepsFrameRate
  }
}
