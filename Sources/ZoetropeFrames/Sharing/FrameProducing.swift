/// Produces composited frames on the calling thread.
///
/// Need not be `Sendable`: it is owned by one ``DecodeLane``, which never calls it concurrently. One call is one decode
/// step, the unit of cancellation.
package protocol FrameProducing: AnyObject {
  /// Returns frame `index`, composited. Requests in ascending order must be the cheapest.
  func frame(at index: Int) throws(AnimatedImageError) -> CompositedFrame

  /// Like ``frame(at:)``, but throws `cancelled` soon after `isCancelled` returns true, and stays usable.
  func frame(
    at index: Int, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame

  /// Returns a closure that fetches bytes that frame `index` needs; nil if none are missing. Called before each frame,
  /// and again after each fetch. The default implementation returns nil.
  func fetch(for index: Int) -> FrameFetch?

  /// Releases resources reserved for playing. The default implementation does nothing.
  func rest()
}

extension FrameProducing {
  package func frame(
    at index: Int, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame {
    try frame(at: index)
  }

  package func fetch(for index: Int) -> FrameFetch? { nil }

  package func rest() {}
}
