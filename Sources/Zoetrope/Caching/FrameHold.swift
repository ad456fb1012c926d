internal import Synchronization

/// Keeps an animation's last two cached frames from eviction for as long as it lives.
///
/// Ends once: at ``end()`` or when the last reference goes, whichever is first.
public final class FrameHold: Sendable {
  private let ending: Mutex<(@Sendable () -> Void)?>

  /// A hold that calls `atEnd` once when it ends; by default nothing.
  public init(atEnd: (@Sendable () -> Void)? = nil) { ending = Mutex(atEnd) }

  /// Ends the hold now. Calling it again does nothing.
  public func end() {
    let call = ending.withLock { $0.take() }
    call?()
  }

  deinit { end() }
}
