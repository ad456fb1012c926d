internal import Glibc

/// A signal from any thread to one waiting thread, with a timeout.
///
/// Unsafe code sits here so that `PlaybackThread` needs none: mutex and condition live at one address each
/// from `init` to `deinit`, and each call below borrows the object that owns them. It waits on the
/// monotonic clock, so that setting the time of day has no effect; `sem_clockwait` would do but is not
/// visible to Swift.
@safe
final class TimedSignal: @unchecked Sendable {
  // Sendable: `isPosted` is read and written under the mutex only, and the pointers never change; they are
  // freed in `deinit`, when no reference is left.
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

  /// Wakes the waiting thread, or makes the next wait return at once.
  func post() {
    unsafe pthread_mutex_lock(mutex)
    isPosted = true
    unsafe pthread_cond_signal(condition)
    unsafe pthread_mutex_unlock(mutex)
  }

  /// Blocks the thread until ``post()`` or `deadline`.
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

  /// `instant` on the monotonic clock, provided the machine is not suspended before.
  ///
  /// `timespec` is accessed as two words: the module that its members belong to depends on the kind of
  /// build, and with it whether they can be named here.
  private static func monotonicTime(of instant: ContinuousClock.Instant) -> timespec {
    var now = unsafe unsafeBitCast((0, 0), to: timespec.self)
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    let (passed, nanoseconds) = unsafe unsafeBitCast(now, to: (Int, Int).self)
    // Clamped to what the words below can represent; longer waits are repeated.
    let wait = min(max(ContinuousClock.now.duration(to: instant), .zero), .seconds(1 << 40))
    let sum = Duration.seconds(passed) + .nanoseconds(nanoseconds) + wait
    let (seconds, attoseconds) = sum.components
    let words = (Int(seconds), Int(attoseconds / 1_000_000_000))
    return unsafe unsafeBitCast(words, to: timespec.self)
  }
}
