/// What reading, playing and caching need to know about an image. Whole files, files that are still arriving, files
/// read by byte ranges and computed frames all conform.
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
  /// The state that reading keeps between calls. Copies share it.
  var state: ReadingState { get set }

  /// Makes a reader at the first frame.
  ///
  /// - Parameter role: Its purpose.
  func makeReader(for role: ReaderRole) throws(AnimatedImageError) -> any FrameReading

  // MARK: With defaults

  /// Where further frames come from. Default: nil, all are known.
  var arrivals: (any FrameArrivals)? { get }
  /// The number of ``frames``.
  var frameCount: Int { get }
  /// Frame `index`, which must be known.
  func control(_ index: Int) -> FrameControl
  /// Whether readers may lack bytes, which ``FrameReading/fetch(for:)`` brings. Default: false.
  var isFetched: Bool { get }
  /// Whether the bytes of a frame are in memory. Default: false, unknown.
  func isAtHand(_ control: FrameControl) -> Bool
  /// Whether the bytes are still those that were opened. Default: true.
  var isUnchanged: Bool { get }
  /// The identity under which `cache` keeps the image's frames; nil, the default, if it cannot be cached.
  ///
  /// May read the whole file. Throws `cancelled` once `isCancelled` returns true.
  func identity(
    in cache: any FrameCaching, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> ContentIdentity?
  /// Called after frame `index` was decoded. Default: nothing.
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

  /// A copy with its own reading state. ``ReadingState`` keeps readers of such a copy, because readers of the
  /// image itself would retain the state that retains them.
  func detached(chargedTo budget: MemoryBudget? = nil) -> Self {
    var copy = self
    copy.state = ReadingState(knowing: state, budget: budget ?? state.ownBudget)
    return copy
  }
}
