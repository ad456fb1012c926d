/// A producer of composited frames, which it decodes on the calling thread.
///
/// A producer need not be `Sendable`, because it is owned by one ``DecodeLane``, which never calls it concurrently.
/// Each call is one decode step, which is the unit of cancellation.
package protocol FrameProducing: AnyObject {
  /// Returns the composited frame `index`. Ascending order must be the cheapest order in which to request frames.
  ///
  /// - Throws: `cancelled` soon after `isCancelled` returns true. After that, the producer can still be used.
  func frame(
    at index: Int, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame

  /// Returns a closure that fetches bytes that frame `index` needs, or nil if no bytes are missing. This method is
  /// called before each frame, and again after each fetch. The default implementation returns nil.
  func fetch(for index: Int) -> FrameFetch?

  /// Releases the resources that are reserved for playing. The default implementation does nothing.
  func rest()
}

extension FrameProducing {
  package func fetch(for index: Int) -> FrameFetch? { nil }

  package func rest() {}
}
