/// What an ``AnimationWriter`` writes, and how.
public struct AnimationWriterOptions: Sendable {
  /// How delays are stored in whole centiseconds.
  public struct Timing: Sendable, Hashable {
    private let isExact: Bool
    /// At least 2 cs, which all browsers show as stored; shorter frames are merged. A play stays as long as it was.
    public static let browser = Self(isExact: false)
    /// As exactly as centiseconds allow, even below 2 cs: for other players.
    public static let exact = Self(isExact: true)
  }
}

/// What was written.
public struct WrittenAnimation: Sendable, Hashable {
  /// Bytes of the file.
  public let byteCount: Int
  /// Frames of the file.
  public let frameCount: Int
  /// Frames that were merged into the one before.
  public let mergedCount: Int
  /// Frames whose compressed pixels were copied from the source; 0 without one.
  public let copiedCount: Int
  /// Whether all delays are what was asked for; else the ends of frames are rounded.
  public let hasExactDelays: Bool
  /// Damage found in the source.
  public let damage: [Damage]

  package init(
    byteCount: Int, frameCount: Int, mergedCount: Int, copiedCount: Int = 0,
    hasExactDelays: Bool = true, damage: [Damage] = []
  ) {
    self.byteCount = byteCount
    self.frameCount = frameCount
    self.mergedCount = mergedCount
    self.copiedCount = copiedCount
    self.hasExactDelays = hasExactDelays
    self.damage = damage
  }

  /// Frames that were compressed.
  public var encodedCount: Int { frameCount - copiedCount }
}
