public import Zoetrope

/// What a decoder must find in a fixture, as its recipe states.
///
/// Pictures come from the recipe, drawn by hand or by rule; never from a decoder of this package.
public struct FixtureExpectations: Sendable, Hashable {
  /// A composited picture.
  public struct Frame: Sendable, Hashable {
    /// The frame, from 0.
    public var index: Int
    /// The whole canvas.
    public var picture: Picture
    /// How much a channel may differ; more than 0 only where partial alpha is blended.
    public var tolerance: Int
  }

  /// Damage that must be reported: something was lost.
  public struct Loss: Sendable, Hashable {
    /// The frame that it must name; nil for any frame or none.
    public var frameIndex: Int?
    /// The number of valid rows that it must report; nil for any.
    public var validRows: Int?
  }

  /// The format.
  public var format: AnimationFormat?
  /// Width and height of the canvas.
  public var canvasSize: PixelSize?
  /// Number of frames.
  public var frameCount: Int?
  /// Plays in total.
  public var playCount: PlayCount?
  /// The stored delay of each frame.
  public var delays: [FrameDelay]?
  /// The stored rectangle of each frame.
  public var rects: [PixelRect]?
  /// The disposal of each frame.
  public var disposals: [DisposalMethod]?
  /// The blend operation of each frame.
  public var blends: [BlendOperation]?
  /// Composited pictures.
  public var frames: [Frame] = []
  /// The static image that is no frame.
  public var staticImage: Picture?
  /// Metadata texts that must be present, each `KEY=VALUE`.
  public var texts: [String] = []
  /// Damage that must be reported under `.salvage`.
  public var losses: [Loss] = []
  /// Whether damage may be reported without being in ``losses``.
  public var allowsLosses = false
  /// Whether a tolerated deviation must be reported.
  public var hasWarning = false
  /// Whether a tolerated deviation may be reported.
  public var allowsWarnings = false
  /// Whether `.strict` must throw; nil if it may.
  public var strictThrows: Bool?
  /// The code of the error that opening, or reading the first frame, must throw; `any` for any.
  public var errorCode: String?
  /// The number of frames with `.partialRows`, if it differs from ``frameCount``.
  public var partialFrameCount: Int?

  /// Whether nothing is wrong with the file.
  public var isClean: Bool {
    losses.isEmpty && !allowsLosses && !hasWarning && !allowsWarnings && errorCode == nil
  }

  /// Nothing is expected.
  public init() {}
}
