/// The maximum size of an edited animation in bytes, and what must not be given up for it.
///
/// ``AnimatedImage/write(_:to:options:progress:)`` then searches for the mildest settings that fit. In this order it
/// drops metadata, spends more time on compression, allows similar colours (``EditOptions/tolerance``), uses fewer
/// colours, drops frames down to 10 per second while keeping the duration, and scales pictures down to a fifth. It
/// encodes at most six files, besides samples, and keeps the best one in memory. If there is room for the metadata, the
/// best file is encoded once more with it. ``WrittenAnimation/concessions`` lists what was given up. If no file fits,
/// the call throws ``AnimatedImageError/Code/limitExceeded``, and nothing is written.
public struct ByteBudget: Sendable, Hashable {
  /// The maximum size of the file in bytes.
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

  /// What was given up so that a file fits.
  public struct Concessions: Sendable, Hashable {
    /// How much colours may differ; 0 if the frames were copied.
    public let tolerance: Int
    /// The maximum number of colours in a palette; nil if there is no limit besides ``EditOptions/colors``.
    public let colors: Int?
    /// The maximum number of frames per second that remain; nil if none were dropped for the budget.
    public let framesPerSecond: Int?
    /// The sides of pictures, in percent of the size that the edits request; at most 100.
    public let percent: Int
    /// The size of pictures in the file.
    public let canvasSize: PixelSize
    /// Whether metadata was left out.
    public let losesMetadata: Bool
  }
}
