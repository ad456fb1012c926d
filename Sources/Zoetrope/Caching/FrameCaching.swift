/// A place for rendered frames; replace it by a type of your own where ``MemoryFrameCache`` does not
/// fit.
///
/// Calls come from any thread, must not block for long, and may forget: a frame that was stored need
/// not be found again. What is found must be what was stored under an equal key.
public protocol FrameCaching: Sendable {
  /// The bitmap stored under `key`, if it is still there.
  func bitmap(for key: FrameKey) -> Bitmap?
  /// Keeps `bitmap` under `key`, in place of what was there.
  func store(_ bitmap: Bitmap, for key: FrameKey)
  /// Forgets every frame of the image with these bytes, in every rendition.
  func remove(_ content: ContentIdentity)
  /// Forgets everything.
  func removeAll()
  /// Says that `animation` is being played, until the hold is ended or let go.
  ///
  /// A held animation keeps the two frames used last, whatever the limits, so that one player
  /// cannot starve another. By default nothing is done.
  func hold(_ animation: AnimationKey) -> FrameHold
}

extension FrameCaching {
  /// A hold that does nothing, for caches that need none.
  public func hold(_ animation: AnimationKey) -> FrameHold { FrameHold() }
}
