package import ZoetropeFrames

/// A way to turn pictures into bytes that make a terminal show them.
///
/// An encoder is a value that knows what the terminal shows inside its area, so each picture costs
/// only what changed. A copy is a snapshot of that knowledge. Either all bytes reach the terminal
/// in order, or ``invalidate()`` must be called.
package protocol FrameEncoding: Sendable {
  /// The cells it draws to.
  var area: CellRect { get }
  /// The size in pixels at which pictures are shown; pictures of this size need no scaling.
  ///
  /// Pictures of any size are accepted, and scaled where necessary.
  var pixelSize: PixelSize { get }
  /// Whether the bytes are graphics, which must be wrapped for tmux and screen.
  var isGraphics: Bool { get }

  /// Appends the bytes that make the terminal show `bitmap`; nothing when nothing changes.
  ///
  /// - Parameters:
  ///   - bitmap: The picture.
  ///   - changed: Where it may differ from the picture before; nil when unknown.
  ///   - pen: What is known about the cursor and colours, which is updated.
  ///   - output: Where the bytes go.
  /// - Precondition: `bitmap` is `PixelFormat.rgba8`.
  mutating func encode(
    _ bitmap: Bitmap, changed: PixelRect?, pen: inout PenState, into output: inout [UInt8])

  /// Like ``encode(_:changed:pen:into:)``, but can be given up: slow encoders call `isWanted` between rows, others
  /// never.
  ///
  /// - Returns: False if `isWanted` returned false. Then nothing was appended, and the next picture is sent whole.
  mutating func encode(
    _ bitmap: Bitmap, changed: PixelRect?, pen: inout PenState, into output: inout [UInt8],
    while isWanted: () -> Bool
  ) -> Bool

  /// Discards the known screen contents, so that the next picture is sent whole.
  mutating func invalidate()

  /// Changes the hold threshold from the next picture on; see ``EncodingOptions/holdThreshold``.
  ///
  /// A higher one saves bytes on a slow link. It has no effect on graphics, which are always exact.
  mutating func setHoldThreshold(_ threshold: Int)

  /// Appends the bytes that free what the terminal stores for this encoder, such as images.
  ///
  /// Characters stay on the screen.
  mutating func remove(pen: inout PenState, into output: inout [UInt8])

  /// A hash of everything that determines the next bytes, apart from the next picture.
  var stateHash: Int { get }

  /// Returns a copy that holds no picture, so that many can be kept.
  ///
  /// Call ``resume(showing:)`` before using it.
  func withoutPicture() -> Self

  /// Restores the picture that ``withoutPicture()`` left out; `bitmap` is the last one encoded.
  mutating func resume(showing bitmap: Bitmap)

  /// The bytes of memory that a copy made by ``withoutPicture()`` holds.
  var stateByteCount: Int { get }
}

extension FrameEncoding {
  /// Returns the encoder itself.
  package func withoutPicture() -> Self { self }

  /// Encodes the whole picture without calling `isWanted`.
  package mutating func encode(
    _ bitmap: Bitmap, changed: PixelRect?, pen: inout PenState, into output: inout [UInt8],
    while isWanted: () -> Bool
  ) -> Bool {
    encode(bitmap, changed: changed, pen: &pen, into: &output)
    return true
  }

  /// Does nothing.
  package mutating func resume(showing bitmap: Bitmap) {}

  /// Appends nothing.
  package mutating func remove(pen: inout PenState, into output: inout [UInt8]) {}

  /// Always 0.
  package var stateByteCount: Int { 0 }

  /// Does nothing.
  package mutating func setHoldThreshold(_ threshold: Int) {}
}
