public import Zoetrope

/// Turns pictures into the bytes that make a terminal show them.
///
/// An encoder is a value that knows what the terminal shows inside its area, so each picture costs
/// only what changed. A copy of an encoder is a snapshot of that knowledge. All bytes go to the
/// terminal in order, or ``invalidate()`` is called.
public protocol FrameEncoding: Sendable {
  /// The cells that are drawn to.
  var area: CellRect { get }
  /// Pixels that the terminal will show; pictures of this size need no scaling.
  ///
  /// Pictures of any size are taken, and scaled where that is needed.
  var pixelSize: PixelSize { get }
  /// Whether the bytes are graphics, which tmux and screen need wrapped.
  var isGraphics: Bool { get }

  /// Appends the bytes that change what the terminal shows into `bitmap`.
  ///
  /// Nothing is appended when nothing changes. `changed` is where the bitmap may differ from the
  /// one of the call before; nil when that is not known. `pen` is what is known of the cursor and
  /// colours, before and after.
  ///
  /// - Precondition: `bitmap` is ``PixelFormat/rgba8``.
  mutating func encode(
    _ bitmap: Bitmap, changed: PixelRect?, pen: inout PenState, into output: inout [UInt8])

  /// Forgets what the terminal shows: the next picture is sent whole.
  mutating func invalidate()

  /// Changes the hold threshold from the next picture on; see ``EncodingOptions/holdThreshold``.
  ///
  /// A higher one spares a slow link. Graphics are always exact, so nothing happens there.
  mutating func setHoldThreshold(_ threshold: Int)

  /// Appends the bytes that free what the terminal keeps for this encoder, such as images.
  ///
  /// Cells keep what they show.
  mutating func remove(pen: inout PenState, into output: inout [UInt8])

  /// A hash of everything that the next bytes depend on, the next picture aside.
  var stateHash: Int { get }

  /// A copy that knows what the terminal shows and holds no picture, for keeping many of.
  ///
  /// ``resume(showing:)`` makes it fit for use.
  func withoutPicture() -> Self

  /// Takes back the picture that ``withoutPicture()`` left out: `bitmap`, the last one encoded.
  mutating func resume(showing bitmap: Bitmap)

  /// Bytes of memory that ``withoutPicture()`` holds for itself.
  var stateByteCount: Int { get }
}

extension FrameEncoding {
  /// Leaves nothing out.
  public func withoutPicture() -> Self { self }

  /// Does nothing.
  public mutating func resume(showing bitmap: Bitmap) {}

  /// Does nothing.
  public mutating func setHoldThreshold(_ threshold: Int) {}
}
