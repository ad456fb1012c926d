/// The purpose of a reader, which determines how many processors it uses.
package enum ReaderRole: Sendable {
  /// Reads all frames as soon as possible.
  case reading
  /// Reads frames as they are shown; they are decoded ahead of time anyway.
  case playing
  /// Reads a list of frames that is still growing.
  case growing
}

/// Draws the frames of one image one after another, for one thread at a time.
package protocol FrameReading: AnyObject {
  /// The frames known to the reader.
  var frameCount: Int { get }
  /// The frame that ``next(isCancelled:)`` draws.
  var nextIndex: Int { get }
  /// Draws frame ``nextIndex`` and returns it; nil after the last one. If it throws, the next call draws the same
  /// frame.
  func next(isCancelled: () -> Bool) throws(AnimatedImageError) -> CompositedFrame?
  /// Returns the canvas that the next frame is drawn on, for ``restart(at:on:)``.
  func canvas() throws(AnimatedImageError) -> Bitmap
  /// Continues with frame `index` on `canvas`. If `canvas` is nil, the frame must be independent and is drawn on a
  /// clear canvas.
  func restart(at index: Int, on canvas: Bitmap?) throws(AnimatedImageError)

  // MARK: With defaults

  /// Appends frames that have arrived, for a reader made for a growing list.
  func append(_ frames: [FrameControl])
  /// Prevents decoding ahead beyond frame `last`; nil removes the limit. Default: does nothing.
  func limitDecodingAhead(to last: Int?)
  /// Returns a closure that fetches bytes needed to draw the frames of `path`; nil, the default, if all are available.
  ///
  /// The last frame of `path` is the requested one. Several calls may be needed: if there are many frames, only the
  /// bytes of some are fetched, and ``next(isCancelled:)`` throws `bytesMissing` at the first frame whose bytes are
  /// missing.
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
