import Glibc

/// A lock round a value, with waiting for the value to change.
///
/// `Mutex` has no condition variable; the encoder threads need one, and a few lines over pthreads
/// cost less start-up time than any library that has it.
///
/// Unsafe code: both pointers are allocated and initialised in `init` and destroyed in `deinit`.
@safe
final class Monitor<State>: @unchecked Sendable {
  // Sendable: `state` is touched only between lock and unlock of `mutex`, and every closure that
  // sees it ends before the unlock.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var state: State

  init(_ state: sending State) {
    self.state = state
    unsafe mutex = .allocate(capacity: 1)
    unsafe condition = .allocate(capacity: 1)
    unsafe pthread_mutex_init(mutex, nil)
    unsafe pthread_cond_init(condition, nil)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  /// Changes the value and wakes everyone who waits for a change.
  func update<Result>(_ body: (inout State) -> sending Result) -> sending Result {
    unsafe pthread_mutex_lock(mutex)
    let result = body(&state)
    unsafe pthread_cond_broadcast(condition)
    unsafe pthread_mutex_unlock(mutex)
    return result
  }

  /// Asks `body` now and after every change, until it gives something.
  func wait<Result>(_ body: (inout State) -> Result?) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&state) {
        unsafe pthread_cond_broadcast(condition)
        return result
      }
      unsafe pthread_cond_wait(condition, mutex)
    }
  }
}
