/// A rendered frame as a cache keeps it.
public struct CachedFrame: Sendable {
  /// The pixels.
  public let bitmap: Bitmap
  /// What was wrong with the frame that they were made of, if anything.
  public let damage: Damage?
  /// Bytes of the pixels, padding included.
  public var cost: Int { bitmap.cost }

  /// A frame to be cached; by default one without damage.
  public init(_ bitmap: Bitmap, damage: Damage? = nil) {
    self.bitmap = bitmap
    self.damage = damage
  }
}

/// A place for rendered frames; replace it by a type of your own where ``MemoryFrameCache`` does not
/// fit.
///
/// Calls come from any thread, must not block for long, and may forget: a frame that was stored need
/// not be found again. What is found must be what was stored under an equal key.
public protocol FrameCaching: Sendable {
  /// The frame stored under `key`, if it is still there.
  func frame(for key: FrameKey) -> CachedFrame?
  /// Keeps `frame` under `key`, in place of what was there.
  func store(_ frame: CachedFrame, for key: FrameKey)
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
  /// The pixels stored under `key`, if they are still there.
  public func bitmap(for key: FrameKey) -> Bitmap? { frame(for: key)?.bitmap }

  /// Keeps the pixels of a frame without damage under `key`.
  public func store(_ bitmap: Bitmap, for key: FrameKey) { store(CachedFrame(bitmap), for: key) }

  /// A hold that does nothing, for caches that need none.
  public func hold(_ animation: AnimationKey) -> FrameHold { FrameHold() }
}
