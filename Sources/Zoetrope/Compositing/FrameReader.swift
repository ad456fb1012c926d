/// Reads the composited frames of one image on the calling thread.
///
/// One owner at a time; not `Sendable`. Work is done inside ``next()`` and ``frame(at:)``: with a
/// parallelism above one, threads of its own decode later frames meanwhile.
public final class FrameReader {
  /// The index of the frame that ``next()`` gives.
  public private(set) var nextIndex = 0
  let image: AnimatedImage

  /// A reader at the start of `image`. Nothing is decoded yet.
  public init(_ image: AnimatedImage) { self.image = image }

  /// The next frame, composited; nil after the last one.
  public func next() throws(AnimatedImageError) -> CompositedFrame? { nil }

  /// Frame `index`, composited; ``next()`` goes on after it.
  ///
  /// Costs one decode when `index` is ``nextIndex``, else a replay from the nearest earlier frame
  /// that is independent.
  public func frame(at index: Int) throws(AnimatedImageError) -> CompositedFrame {
    throw AnimatedImageError(.parameter, "no frame \(index)")
  }

  /// Goes back to the first frame; the canvas is transparent again, as at the start of each play.
  public func rewind() { nextIndex = 0 }
}
