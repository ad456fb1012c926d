/// The options of ``animateImage(at:options:clock:handler:)``, as Image I/O documents them.
public struct AnimationOptions: Sendable, Hashable {
  /// The first frame that is shown. Default: 0. One past the end is a parameter error.
  public var startIndex: Int
  /// Shows every frame for this long instead of its own delay. Default: nil. Must not be negative.
  public var delayTime: Duration?
  /// Plays in total, or `.indefinite`; nil, the default, takes the file's.
  public var loopCount: PlayCount?
  /// How the image is opened and decoded, its limits among it. Default: as files are opened elsewhere.
  public var decoding: DecodingOptions

  /// Options; each argument left out has its default.
  public init(
    startIndex: Int = 0, delayTime: Duration? = nil, loopCount: PlayCount? = nil,
    decoding: DecodingOptions = .init()
  ) {
    self.startIndex = startIndex
    self.delayTime = delayTime
    self.loopCount = loopCount
    self.decoding = decoding
  }
}
