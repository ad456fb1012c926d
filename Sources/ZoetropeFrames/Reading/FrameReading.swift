/// The purpose of a reader, which determines how many processors the reader uses.
package enum ReaderRole: Sendable {
  /// The reader reads all frames as soon as possible.
  case reading
  /// The reader reads frames for playing, where they are requested ahead of time anyway.
  case playing
  /// The reader reads a list of frames that is still growing.
  case growing
}

/// A closure that fetches bytes, and returns an error if they could not be fetched, otherwise nil. The closure's task
/// is cancelled when the frame that needs the bytes is no longer needed.
package typealias FrameFetch = @Sendable () async -> AnimatedImageError?

/// A reader that draws the frames of one image one after another, and is used by one thread at a time.
package protocol FrameReading: AnyObject {
  /// The number of frames known to the reader.
  var frameCount: Int { get }
  /// The index of the frame that the next call of ``next(isCancelled:)`` draws.
  var nextIndex: Int { get }
  /// Draws frame ``nextIndex`` and returns it, or returns nil after the last frame. If this method throws, the next
  /// call draws the same frame.
  func next(isCancelled: () -> Bool) throws(AnimatedImageError) -> CompositedFrame?
  /// Returns the canvas on which the next frame is drawn, to be passed to ``restart(at:on:)`` later.
  func canvas() throws(AnimatedImageError) -> Bitmap
  /// Continues with frame `index` on `canvas`. If `canvas` is nil, the frame must be independent, and is drawn on a
  /// clear canvas.
  func restart(at index: Int, on canvas: Bitmap?) throws(AnimatedImageError)

  // MARK: With defaults

  /// Appends frames that have arrived. Only readers with the role ``ReaderRole/growing`` support this. The default
  /// implementation does nothing.
  func append(_ frames: [FrameControl])
  /// Prevents decoding ahead beyond frame `last`. If `last` is nil, removes the limit. The default implementation does
  /// nothing.
  func limitDecodingAhead(to last: Int?)
  /// Returns a closure that fetches bytes needed to draw the frames in `path`, or nil if all of these bytes are
  /// available. The default implementation returns nil.
  ///
  /// The last frame of `path` is the requested frame. Several calls may be needed: if `path` has many frames, the
  /// closure fetches the bytes of only some of them, and ``next(isCancelled:)`` throws `bytesMissing` at the first
  /// frame whose bytes are missing.
  func fetch(for path: ClosedRange<Int>) -> FrameFetch?
  /// Releases the memory that is reserved for the next frames. The default implementation does nothing.
  func rest()
}

extension FrameReading {
  package func append(_ frames: [FrameControl]) {}
  package func limitDecodingAhead(to last: Int?) {}
  package func fetch(for path: ClosedRange<Int>) -> FrameFetch? { nil }
  package func rest() {}
}
