internal import Glibc

/// A lock around a value, with waiting for the value to change.
///
/// `Mutex` has no condition variable, which the encoder threads need.
///
/// Unsafe code: both pointers are allocated and initialised in `init` and destroyed in `deinit`,
/// and are used only here, where the object that owns them is alive.
@safe
package final class Monitor<State>: @unchecked Sendable {
  // Sendable: `state` is touched only between lock and unlock of `mutex`, and every closure that
  // sees it ends before the unlock.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var state: State

  package init(_ state: sending State) {
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

  /// Changes the value and wakes all waiters.
  package func update<Result>(_ body: (inout State) -> sending Result) -> sending Result {
    unsafe pthread_mutex_lock(mutex)
    let result = body(&state)
    unsafe pthread_cond_broadcast(condition)
    unsafe pthread_mutex_unlock(mutex)
    return result
  }

  /// Calls `body` now and after every change, until it returns a value.
  package func wait<Result>(_ body: (inout State) -> Result?) -> Result {
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

/// Waits for asynchronous work on the main thread.
package enum BlockingTask {
  /// Runs `work` on the cooperative pool and blocks the calling thread until it is done. The caller
  /// must not be on the pool itself.
  package static func run<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) -> Value {
    let result = Monitor<Value?>(nil)
    Task {
      let value = await work()
      result.update { $0 = value }
    }
    return result.wait { $0 }
  }
}
