/// Makes composited frames on the thread that asks.
///
/// Owned by one `DecodeLane`, which never calls it from two threads at once; so it need not be
/// `Sendable`. One call is one decode step: the unit in which work is stopped.
package protocol FrameProducing: AnyObject {
  /// Frame `index`, composited. Asking in order has to be cheapest.
  func frame(at index: Int) throws(AnimatedImageError) -> CompositedFrame

  /// As ``frame(at:)``; throws `cancelled` soon after `isCancelled` gives true. Has to be ready for the
  /// next call then.
  func frame(
    at index: Int, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame

  /// Nobody plays for now: what was set aside for players is given up. By default nothing is.
  func rest()
}

extension FrameProducing {
  package func frame(
    at index: Int, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame {
    try frame(at: index)
  }

  package func rest() {}
}

extension FrameReader: FrameProducing {}
extension SeekingReader: FrameProducing {}
