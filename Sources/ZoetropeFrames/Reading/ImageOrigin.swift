/// An image as seen by reading, playing and caching. Whole files, files that are still arriving, files read by byte
/// ranges and computed frames all conform.
///
/// A value that owns no reader. The list of frames may grow, but a known frame never changes.
package protocol ImageOrigin: Sendable {
  /// The file's format, for errors.
  var format: AnimationFormat { get }
  /// The size of every composited frame.
  var canvasSize: PixelSize { get }
  /// How frames are decoded.
  var options: DecodingOptions { get }
  /// The frames known so far, in order.
  var frames: [FrameControl] { get }
  /// The total number of plays as known so far.
  var playCount: PlayCount { get }
  /// The state kept between reads. Copies share it.
  var state: ReadingState { get set }

  /// Makes a reader at the first frame.
  ///
  /// - Parameter role: The reader's purpose.
  func makeReader(for role: ReaderRole) throws(AnimatedImageError) -> any FrameReading

  // MARK: With defaults

  /// The source of further frames. Default: nil, all are known.
  var arrivals: (any FrameArrivals)? { get }
  /// The number of ``frames``.
  var frameCount: Int { get }
  /// Returns frame `index`, which must be known.
  func control(_ index: Int) -> FrameControl
  /// Whether readers may lack bytes, which ``FrameReading/fetch(for:)`` then fetches. Default: false.
  var isFetched: Bool { get }
  /// Returns whether the bytes of a frame are known to be in memory. Default: false.
  func isAtHand(_ control: FrameControl) -> Bool
  /// Whether the file's bytes are unchanged since it was opened. Default: true.
  var isUnchanged: Bool { get }
  /// Returns the identity under which `cache` keeps the image's frames; nil, the default, if they cannot be cached.
  ///
  /// May read the whole file. Throws `cancelled` once `isCancelled` returns true.
  func identity(
    in cache: any FrameCaching, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> ContentIdentity?
  /// Called after frame `index` was decoded. Default: does nothing.
  func noteDecoded(_ index: Int)
}

extension ImageOrigin {
  package var arrivals: (any FrameArrivals)? { nil }
  package var frameCount: Int { frames.count }
  package func control(_ index: Int) -> FrameControl { frames[index] }
  package var isFetched: Bool { false }
  package func isAtHand(_ control: FrameControl) -> Bool { false }
  package var isUnchanged: Bool { true }
  package func identity(
    in cache: any FrameCaching, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> ContentIdentity? { nil }
  package func noteDecoded(_ index: Int) {}

  /// Returns a copy with its own reading state. ``ReadingState`` keeps readers of such a copy, because readers of the
  /// image itself would retain the state that retains them.
  func detached(chargedTo budget: MemoryBudget? = nil) -> Self {
    var copy = self
    copy.state = ReadingState(knowing: state, budget: budget ?? state.ownBudget)
    return copy
  }
}
