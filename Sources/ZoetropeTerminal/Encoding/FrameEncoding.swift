package import ZoetropeFrames

/// A way to convert pictures to bytes that make a terminal show them.
///
/// An encoder is a value that knows what the terminal shows inside the encoder's area, so a picture takes bytes only
/// for what has changed. A copy of an encoder is a snapshot of this knowledge. If some of the bytes do not reach the
/// terminal, or arrive out of order, call ``invalidate()``.
package protocol FrameEncoding: Sendable {
  /// The cells that the encoder draws to.
  var area: CellRect { get }
  /// The size in pixels at which pictures are shown. Pictures of this size need not be scaled.
  ///
  /// The encoder accepts pictures of any size, and scales them if necessary.
  var pixelSize: PixelSize { get }

  /// Appends the bytes that make the terminal show `bitmap`. If nothing changes, appends nothing.
  ///
  /// - Parameters:
  ///   - bitmap: The picture.
  ///   - changed: The rectangle in which the picture may differ from the previous one, or nil if unknown.
  ///   - pen: What is known about the terminal's cursor and colours. The encoder updates it.
  ///   - output: The array to which the bytes are appended.
  /// - Precondition: `bitmap` is in `PixelFormat.rgba8`.
  mutating func encode(
    _ bitmap: Bitmap, changed: PixelRect?, pen: inout PenState, into output: inout [UInt8])

  /// Appends bytes like ``encode(_:changed:pen:into:)``, but can be interrupted: slow encoders call `isWanted` between
  /// rows. Other encoders never call it.
  ///
  /// - Returns: False if `isWanted` returned false. In this case, nothing was appended, and the next picture is sent
  ///   whole.
  mutating func encode(
    _ bitmap: Bitmap, changed: PixelRect?, pen: inout PenState, into output: inout [UInt8],
    while isWanted: () -> Bool
  ) -> Bool

  /// Discards what is known about the screen, so that the next picture is sent whole.
  mutating func invalidate()

  /// Appends the bytes that delete what the terminal stores for this encoder, such as images.
  ///
  /// Characters stay on the screen.
  mutating func remove(pen: inout PenState, into output: inout [UInt8])

  /// A hash of everything on which the bytes of the next picture depend, except the picture itself.
  var stateHash: Int { get }

  /// Returns a copy of the encoder that does not retain a picture, so that many copies can be kept.
  ///
  /// Call ``resume(showing:)`` before you use the copy.
  func withoutPicture() -> Self

  /// Restores the picture that ``withoutPicture()`` left out. `bitmap` is the last picture that was encoded.
  mutating func resume(showing bitmap: Bitmap)

  /// The number of bytes of memory that a copy made by ``withoutPicture()`` takes.
  var stateByteCount: Int { get }
}

extension FrameEncoding {
  /// Returns an invalidated copy. This default implementation is for encoders whose ``invalidate()`` discards nothing
  /// but the picture.
  package func withoutPicture() -> Self {
    var copy = self
    copy.invalidate()
    return copy
  }

  /// Encodes the whole picture. This default implementation never calls `isWanted`.
  package mutating func encode(
    _ bitmap: Bitmap, changed: PixelRect?, pen: inout PenState, into output: inout [UInt8],
    while isWanted: () -> Bool
  ) -> Bool {
    encode(bitmap, changed: changed, pen: &pen, into: &output)
    return true
  }

  /// The default implementation does nothing.
  package mutating func resume(showing bitmap: Bitmap) {}

  /// The default implementation appends nothing.
  package mutating func remove(pen: inout PenState, into output: inout [UInt8]) {}

  /// The default value is 0.
  package var stateByteCount: Int { 0 }
}
