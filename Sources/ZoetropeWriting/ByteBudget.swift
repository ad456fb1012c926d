/// The maximum size of an edited animation in bytes, and the properties that must not be given up to meet it.
///
/// If edits change nothing and the source fits, ``AnimatedImage/write(_:to:options:progress:)`` copies it byte for
/// byte, unless ``EditOptions/tolerance`` makes it smaller. Otherwise it searches for the mildest settings with which
/// the file fits. The search takes these measures, in this order: it drops metadata, spends more time on compression,
/// allows similar colours (``EditOptions/tolerance``), uses fewer colours, drops frames down to 10 per second without
/// changing the duration, and scales pictures down to a fifth of their size. It estimates sizes from samples of the
/// frames, encodes at most six whole files, and keeps the best file in memory. If there is room for the metadata, the
/// best file is encoded once more with its metadata. With ``ColorPolicy/exact``, no colours are given up.
/// ``WrittenAnimation/concessions`` tells what was given up. If no file fits, the call throws
/// ``AnimatedImageError/Code/limitExceeded``, and nothing is written.
public struct ByteBudget: Sendable, Hashable {
  /// The maximum size of the file in bytes.
  public var byteLimit: Int
  /// Whether pictures keep their size in pixels. Default: false.
  public var keepsSize: Bool
  /// Whether all frames are kept. Default: false.
  public var keepsFrameRate: Bool

  /// Creates a budget.
  public init(byteLimit: Int, keepsSize: Bool = false, keepsFrameRate: Bool = false) {
    self.byteLimit = byteLimit
    self.keepsSize = keepsSize
    self.keepsFrameRate = keepsFrameRate
  }

  /// What was given up to make a file fit.
  public struct Concessions: Sendable, Hashable {
    /// How much colours may differ, as in ``EditOptions/tolerance``. It is 0 if the frames were copied.
    public let tolerance: Int
    /// The maximum number of colours in a palette, or nil if the budget did not lower the limit of
    /// ``EditOptions/colors``.
    public let colors: Int?
    /// The maximum number of frames per second that remain, or nil if no frames were dropped to meet the budget.
    public let framesPerSecond: Int?
    /// The width and height of pictures, as a percentage of the width and height that the edits request. At most 100.
    public let percent: Int
    /// The size of pictures in the file.
    public let canvasSize: PixelSize
    /// Whether metadata was left out.
    public let losesMetadata: Bool
  }
}
