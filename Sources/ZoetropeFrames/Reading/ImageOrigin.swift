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
  /// What reading keeps between calls. Copies share it.
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

/// The purpose of a reader, which determines how many processors it uses.
package enum ReaderRole: Sendable {
  /// All frames as soon as possible.
  case reading
  /// Frames as they are shown, decoded ahead of time anyway.
  case playing
  /// A list of frames that grows.
  case growing
}

/// Draws the frames of one image one after another, for one thread at a time.
package protocol FrameReading: AnyObject {
  /// The frames known to the reader.
  var frameCount: Int { get }
  /// The frame that ``next(isCancelled:)`` draws.
  var nextIndex: Int { get }
  /// Draws frame ``nextIndex``; nil after the last one. If it throws, the next call draws the same frame.
  func next(isCancelled: () -> Bool) throws(AnimatedImageError) -> CompositedFrame?
  /// The canvas that the next frame is drawn on, for ``restart(at:on:)``.
  func canvas() throws(AnimatedImageError) -> Bitmap
  /// Continues with frame `index` on `canvas`; without one, on a clear canvas, if it is independent.
  func restart(at index: Int, on canvas: Bitmap?) throws(AnimatedImageError)

  // MARK: With defaults

  /// Appends frames that have arrived, for a reader made for a growing list.
  func append(_ frames: [FrameControl])
  /// Stops decoding ahead of frames after `last`; nil ends the limit. Default: nothing.
  func limitDecodingAhead(to last: Int?)
  /// Fetches bytes that are needed to draw the frames of `path`; nil, the default, if all are available.
  ///
  /// The last frame of `path` is the requested one. May have to be called again: if there are many frames, it
  /// fetches the bytes of some, and ``next(isCancelled:)`` throws `bytesMissing` at the first frame that lacks
  /// them.
  func fetch(for path: ClosedRange<Int>) -> FrameFetch?
  /// Releases memory reserved for the next frames. Default: does nothing.
  func rest()
}

extension FrameReading {
  package func append(_ frames: [FrameControl]) {}
  package func limitDecodingAhead(to last: Int?) {}
  package func fetch(for path: ClosedRange<Int>) -> FrameFetch? { nil }
  package func rest() {}
}

/// The source of frames that have not arrived yet.
package protocol FrameArrivals: AnyObject, Sendable {
  /// What has arrived after the first `known` frames.
  func arrival(after known: Int) -> FrameArrival
  /// Waits until frame `index` has arrived or no further one will; false if the task is cancelled first.
  func waitForFrame(_ index: Int) async -> Bool
  /// Notifies `observer` of further arrivals, some of which it may have missed already.
  func add(_ observer: any ArrivalObserver)
}

/// Is notified when more of an image can be played.
package protocol ArrivalObserver: AnyObject, Sendable {
  /// Frames have arrived, or no further ones will. Called with no lock held.
  func framesArrived()
}

/// The part of an image that has arrived since the last check.
package struct FrameArrival: Sendable {
  /// The frames that are new.
  package var frames: [FrameControl]
  /// The play count as known so far.
  package var playCount: PlayCount
  /// Whether more frames may follow.
  package var isOpen: Bool
  /// Why no more will, if that is a failure.
  package var error: AnimatedImageError?

  package init(
    frames: [FrameControl], playCount: PlayCount, isOpen: Bool, error: AnimatedImageError? = nil
  ) {
    self.frames = frames
    self.playCount = playCount
    self.isOpen = isOpen
    self.error = error
  }
}
