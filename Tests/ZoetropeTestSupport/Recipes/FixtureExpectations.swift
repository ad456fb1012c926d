package import Zoetrope

/// What a decoder must find in a fixture, as its recipe states.
///
/// Pictures come from the recipe, drawn by hand or by rule; never from a decoder of this package.
package struct FixtureExpectations: Sendable, Hashable {
  /// A composited picture.
  package struct Frame: Sendable, Hashable {
    /// The frame, from 0.
    package var index: Int
    /// The whole canvas.
    package var picture: Picture
    /// How much a channel may differ; more than 0 only where partial alpha is blended.
    package var tolerance: Int
  }

  /// Damage that must be reported: something was lost.
  package struct Loss: Sendable, Hashable {
    /// The frame that it must name; nil for any frame or none.
    package var frameIndex: Int?
    /// The number of valid rows that it must report; nil for any.
    package var validRows: Int?
  }

  /// The format.
  package var format: AnimationFormat?
  /// Width and height of the canvas.
  package var canvasSize: PixelSize?
  /// Number of frames.
  package var frameCount: Int?
  /// Plays in total.
  package var playCount: PlayCount?
  /// The stored delay of each frame.
  package var delays: [FrameDelay]?
  /// The stored rectangle of each frame.
  package var rects: [PixelRect]?
  /// The disposal of each frame.
  package var disposals: [DisposalMethod]?
  /// The blend operation of each frame.
  package var blends: [BlendOperation]?
  /// Composited pictures.
  package var frames: [Frame] = []
  /// The static image that is no frame.
  package var staticImage: Picture?
  /// Metadata texts that must be present, each `KEY=VALUE`.
  package var texts: [String] = []
  /// Damage that must be reported under `.salvage`.
  package var losses: [Loss] = []
  /// Whether damage may be reported without being in ``losses``.
  package var allowsLosses = false
  /// Whether a tolerated deviation must be reported.
  package var hasWarning = false
  /// Whether a tolerated deviation may be reported.
  package var allowsWarnings = false
  /// Whether `.strict` must throw; nil if it may.
  package var strictThrows: Bool?
  /// The code of the error that opening, or reading the first frame, must throw; `any` for any.
  package var errorCode: String?
  /// The number of frames with `.partialRows`, if it differs from ``frameCount``.
  package var partialFrameCount: Int?

  /// Whether nothing is wrong with the file.
  package var isClean: Bool {
    losses.isEmpty && !allowsLosses && !hasWarning && !allowsWarnings && errorCode == nil
  }

  /// Nothing is expected.
  package init() {}
}
