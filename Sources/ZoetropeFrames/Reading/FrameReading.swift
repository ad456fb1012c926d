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
