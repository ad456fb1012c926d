/// A drawing that is applied to every rendered frame, such as rounded corners or a badge.
///
/// Two drawings are equal if their names and versions are equal, because closures cannot be compared. Change the
/// version whenever the closure draws something else. Otherwise caches return frames with the old drawing.
public struct FrameDrawing: Sendable, Hashable {
  /// A closure that draws on row `y` of a frame of `size` by changing the bytes of the row, which are in
  /// ``PixelFormat/rgba8`` without padding.
  ///
  /// The closure is called on the library's own threads. A pixel may depend only on its position and its old value,
  /// because dirty rectangles cover only what the animation itself changed.
  public typealias Row =
    @Sendable (_ y: Int, _ size: PixelSize, _ bytes: inout MutableRawSpan) -> Void

  /// The name of the drawing.
  package let name: String
  /// The version of the drawing.
  package let version: Int
  private let drawRow: Row

  /// Creates a drawing.
  ///
  /// - Parameters:
  ///   - name: The name of the drawing, which distinguishes it from other drawings.
  ///   - version: The version of the drawing, which distinguishes it from other versions of the same drawing.
  ///   - drawRow: A closure that is called for each row of each frame.
  public init(_ name: String, version: Int, drawRow: @escaping Row) {
    self.name = name
    self.version = version
    self.drawRow = drawRow
  }

  /// Returns a copy of `bitmap` in ``PixelFormat/rgba8``, with the drawing applied to it.
  func applied(to bitmap: Bitmap) throws(AnimatedImageError) -> Bitmap {
    var buffer = try PixelBuffer(asking: bitmap.size, zeroed: false)
    buffer.copy(try bitmap.converted(to: .rgba8))
    let (size, stride) = (bitmap.size, buffer.bytesPerRow)
    for y in 0..<size.height {
      var bytes = buffer.mutableBytes
      var row = bytes._mutatingExtracting(y * stride..<y * stride + size.width * 4)
      drawRow(y, size, &row)
    }
    return buffer.finish()
  }

  /// Returns whether the names and the versions of two drawings are equal.
  public static func == (left: FrameDrawing, right: FrameDrawing) -> Bool {
    left.name == right.name && left.version == right.version
  }

  /// Hashes the name and the version.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(version)
  }
}
