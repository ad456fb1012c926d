/// What edits and `optimize` need to know about a file format: one row of ``EditingTable``.
///
/// These rows are not part of the `FormatTable`, because their methods read an ``AnimatedImage``.
protocol FormatEditing: Sendable {
  /// The formats of the row.
  var formats: [AnimationFormat] { get }
  /// Finds the parts of `image` that are copied.
  func copying(_ image: AnimatedImage) throws(AnimatedImageError) -> any FrameCopying
  /// Returns the number of bytes in extensions of `image` that a smaller file can leave out. Zero if the image's
  /// metadata contains all of them.
  func extensionByteCount(of image: AnimatedImage) throws(AnimatedImageError) -> Int
  /// Returns whether `image` has extensions that are not written with its metadata, so that a file lacks them unless it
  /// takes them over.
  func hasOtherExtensions(_ image: AnimatedImage) throws(AnimatedImageError) -> Bool
  /// Returns the shape of a pixel as the file stores it, besides in its metadata, or 0 if it does not.
  func pixelAspect(of image: AnimatedImage) throws(AnimatedImageError) -> UInt8
  /// Returns whether pixels are stored as RGB or RGBA, rather than as grey or as indices of a palette.
  func storesTrueColor(_ header: ImageHeader) -> Bool
  /// Returns ways to write `image` in fewer bytes, in the order in which they are tried, or the first damage that costs
  /// pixels. An image with such damage must not be written.
  func optimizingWays(
    _ image: AnimatedImage, _ options: OptimizingOptions,
    _ isCancelled: @escaping @Sendable () -> Bool
  ) throws(AnimatedImageError) -> (ways: [OptimizingWay], loss: Damage?)
}

extension FormatEditing {
  func extensionByteCount(of image: AnimatedImage) -> Int { 0 }
  func hasOtherExtensions(_ image: AnimatedImage) -> Bool { false }
  func pixelAspect(of image: AnimatedImage) -> UInt8 { 0 }
  func storesTrueColor(_ header: ImageHeader) -> Bool { false }
}

/// A way to write an image in fewer bytes.
struct OptimizingWay {
  /// Whether no picture changes.
  let isExact: Bool
  /// Whether this way is tried only if no earlier way made the file smaller without loss.
  let isFallback: Bool
  /// Writes the file. If the file lacks metadata that should be kept, but does not apply to it, returns the number of
  /// bytes that this metadata takes in the source, as far as it was read. Otherwise returns nil.
  let write: (LimitedSink, (WritingProgress) -> Void) throws(AnimatedImageError) -> Int?
}

/// The formats whose compressed frames can be copied.
enum EditingTable {
  /// To add a format, add an element to this array.
  static let rows: [any FormatEditing] = [GIFEditing(), PNGEditing()]
}

extension AnimationFormat {
  /// The row of this format, or nil if edits encode all frames again.
  var editing: (any FormatEditing)? { EditingTable.rows.first { $0.formats.contains(self) } }
}
