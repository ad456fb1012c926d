/// Makes composited frames on the thread that asks.
///
/// Owned by one `DecodeLane`, which never calls it from two threads at once; so it need not be
/// `Sendable`. One call is one decode step: the unit in which work is stopped.
package protocol FrameProducing: AnyObject {
  /// Frame `index`, composited. Asking in order has to be cheapest.
  func frame(at index: Int) throws(AnimatedImageError) -> CompositedFrame
}

extension FrameReader: FrameProducing {}
