/// The interface to an image for reading, playing and caching. Whole files, files that are still arriving, files that
/// are read by byte ranges, and computed frames in tests conform to this protocol.
///
/// A conforming value owns no reader. The list of frames may grow, but a known frame never changes.
package protocol ImageOrigin: Sendable {
  /// The file's format, which errors mention.
  var format: AnimationFormat { get }
  /// The size of every composited frame.
  var canvasSize: PixelSize { get }
  /// The options with which frames are decoded.
  var options: DecodingOptions { get }
  /// The frames known so far, in order.
  var frames: [FrameControl] { get }
  /// The total number of plays that is known so far.
  var playCount: PlayCount { get }
  /// The state that is kept between reads. Copies of the image share the state.
  var state: ReadingState { get set }

  /// Makes a reader that begins at the first frame.
  ///
  /// - Parameter role: The purpose of the reader.
  func makeReader(for role: ReaderRole) throws(AnimatedImageError) -> any FrameReading

  // MARK: With defaults

  /// The source of frames that are still to arrive. Default: nil, which means that all frames are known.
  var arrivals: (any FrameArrivals)? { get }
  /// The number of frames known so far.
  var frameCount: Int { get }
  /// Returns the description of frame `index`, which must be known.
  func control(_ index: Int) -> FrameControl
  /// Whether readers may lack bytes of the file. If true, ``FrameReading/fetch(for:)`` fetches missing bytes. Default:
  /// false.
  var isFetched: Bool { get }
  /// Returns whether the bytes of a frame are known to be in memory. Default: false.
  func isAtHand(_ control: FrameControl) -> Bool
  /// Whether the bytes of the file are the same as when the file was opened. Default: true.
  var isUnchanged: Bool { get }
  /// Returns the identity under which `cache` keeps the frames of the image, or nil if the frames cannot be cached.
  /// Default: nil.
  ///
  /// This method may read the whole file.
  ///
  /// - Throws: `cancelled` once `isCancelled` returns true.
  func identity(
    in cache: any FrameCaching, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> ContentIdentity?
  /// Called after frame `index` was decoded. The default implementation does nothing.
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

  /// Returns a copy of the image with a reading state of its own. A ``ReadingState`` gives its own readers such a copy
  /// to read from. If they read from the image itself, they would retain the state that retains them.
  func detached(chargedTo budget: MemoryBudget? = nil) -> Self {
    var copy = self
    copy.state = ReadingState(knowing: state, budget: budget ?? state.ownBudget)
    return copy
  }
}
