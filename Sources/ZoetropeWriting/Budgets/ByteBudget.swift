/// How many bytes an edited animation may have.
///
/// ``AnimatedImage/write(_:options:to:progress:)`` then looks for the mildest settings whose file fits. It gives up, in
/// this order: metadata, unless copied frames fit; time for compressing; pixels that are exact
/// (``EditOptions/tolerance``); colours; frames, down to 10 per second, with the duration kept; and size, down to a
/// fifth. It encodes at most six files, besides samples, and keeps the best one in memory. If none fits, it throws
/// ``AnimatedImageError/Code/limitExceeded``, and nothing is written.
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
