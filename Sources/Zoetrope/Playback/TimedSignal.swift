internal import Glibc

/// A signal from any thread to one that waits for it, or for a moment.
///
/// Unsafe code sits here so that `PlaybackThread` needs none: mutex and condition live at one address
/// each from `init` to `deinit`, and each call below borrows the object that owns them. The monotonic
/// clock is waited on, so that setting the time of day moves nothing; `sem_clockwait` would do but is
/// hidden from Swift.
@safe
final class TimedSignal: @unchecked Sendable {
  // Sendable: `isPosted` is read and written under the mutex only, and the pointers never change;
  // they are freed in `deinit`, when nobody holds this object any more.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var isPosted = false

  init() {
    unsafe mutex = .allocate(capacity: 1)
    unsafe condition = .allocate(capacity: 1)
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_mutex_init(mutex, nil)
    unsafe pthread_cond_init(condition, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  /// Lets the waiting thread go on, or the next wait return at once.
  func post() {
    unsafe pthread_mutex_lock(mutex)
    isPosted = true
    unsafe pthread_cond_signal(condition)
    unsafe pthread_mutex_unlock(mutex)
  }

  /// Blocks the thread until there was a ``post()``, or until `deadline`.
  func wait(until deadline: ContinuousClock.Instant?) {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    guard let deadline else {
      while !isPosted { unsafe pthread_cond_wait(condition, mutex) }
      isPosted = false
      return
    }
    var moment = Self.monotonicTime(of: deadline)
    while !isPosted, unsafe pthread_cond_timedwait(condition, mutex, &moment) == 0 {}
    isPosted = false
  }

  /// When `instant` will be, on the monotonic clock, unless the machine is suspended before.
  ///
  /// `timespec` is read and made as its two words: which module its members belong to differs from
  /// one kind of build to the other, and with it whether they may be named here.
  private static func monotonicTime(of instant: ContinuousClock.Instant) -> timespec {
    var now = unsafe unsafeBitCast((0, 0), to: timespec.self)
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    let (passed, nanoseconds) = unsafe unsafeBitCast(now, to: (Int, Int).self)
    // What is further away than the words below can count is waited for in parts.
    let wait = min(max(ContinuousClock.now.duration(to: instant), .zero), .seconds(1 << 40))
    let sum = Duration.seconds(passed) + .nanoseconds(nanoseconds) + wait
    let (seconds, attoseconds) = sum.components
    let words = (Int(seconds), Int(attoseconds / 1_000_000_000))
    return unsafe unsafeBitCast(words, to: timespec.self)
  }
}
