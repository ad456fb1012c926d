internal import Glibc

// System threads, semaphores and locks.
//
// Unsafe code: `pthread_create` takes a context pointer, and semaphores, mutexes and condition variables need an
// address that does not change. The context is retained until the new thread takes it over. The addresses are those of
// ``Pinned`` values, which the types below use only as long as these values exist.

/// A system thread that runs one closure. Join or detach it exactly once.
///
/// Decoding or encoding a frame blocks a thread for milliseconds. On separate threads, this work does not starve
/// Swift's cooperative thread pool, and a command-line tool need not start that pool at all.
package struct SystemThread: Sendable {
  private let handle: pthread_t

  /// A box that passes a closure to a new thread.
  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  package init?(_ body: @escaping @Sendable () -> Void) {
    // The body is retained here. It is released by the new thread, or below if no thread starts.
    let argument = unsafe Unmanaged.passRetained(Body(body)).toOpaque()
    var handle = pthread_t()
    guard unsafe pthread_create(&handle, nil, Self.run, argument) == 0 else {
      unsafe Unmanaged<Body>.fromOpaque(argument).release()
      return nil
    }
    self.handle = handle
  }

  /// The entry point of a new thread. It is called with the body that was retained for the thread.
  private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
    argument in
    if let argument = unsafe argument {
      unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
    }
    return nil
  }

  /// Waits until the closure has returned.
  package func join() { pthread_join(handle, nil) }

  /// Detaches the thread, so that the system frees its resources when the closure returns.
  package func detach() { pthread_detach(handle) }
}

/// Runs `body` on a new detached thread. Returns false if the system cannot create a thread.
package func startThread(running body: @escaping @Sendable () -> Void) -> Bool {
  guard let thread = SystemThread(body) else { return false }
  thread.detach()
  return true
}

/// A value at a fixed address: a C value such as a mutex, or a value that a mutex guards.
@safe
struct Pinned<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
  // Sendable: semaphores, mutexes and condition variables are made to be shared between threads. Any other value is
  // passed in as `sending` and accessed only while the mutex stored beside it is locked. The address never changes. The
  // memory at the address is freed in `deinit`, when no reference to the owner of this value is left.
  let address: UnsafeMutablePointer<Value>

  init(_ value: consuming sending Value) {
    unsafe address = .allocate(capacity: 1)
    unsafe address.initialize(to: value)
  }

  deinit {
    unsafe address.deinitialize(count: 1)
    unsafe address.deallocate()
  }
}

/// A counting semaphore, with which one thread wakes another.
package final class ThreadSignal: Sendable {
  private let semaphore = Pinned(sem_t())

  package init() { unsafe sem_init(semaphore.address, 0, 0) }

  deinit { unsafe sem_destroy(semaphore.address) }

  /// Lets one call of ``wait(looks:)`` return: a call that is waiting now, or else a later one.
  package func post() { unsafe _ = sem_post(semaphore.address) }

  /// Blocks the calling thread until it can consume one ``post()``.
  ///
  /// - Parameter looks: The number of times to poll before the thread goes to sleep.
  package func wait(looks: Int = 0) {
    for _ in 0..<looks {
      if unsafe sem_trywait(semaphore.address) == 0 { return }
      sched_yield()
    }
    while unsafe sem_wait(semaphore.address) != 0 {}
  }
}

/// A value with a lock and a condition variable, so that threads can wait for the value to change.
///
/// The standard `Mutex` has no condition variable.
@safe
package final class Monitor<State>: Sendable {
  private let mutex = unsafe Pinned(pthread_mutex_t())
  private let condition = Pinned(pthread_cond_t())
  private let state: Pinned<State>

  package init(_ state: sending State) {
    self.state = Pinned(state)
    // With the monotonic clock, changes of the system time do not affect a wait with a deadline.
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_mutex_init(mutex.address, nil)
    unsafe pthread_cond_init(condition.address, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_cond_destroy(condition.address)
    unsafe pthread_mutex_destroy(mutex.address)
  }

  /// Changes the value and wakes all waiters.
  package func update<Result>(_ body: (inout State) -> sending Result) -> sending Result {
    unsafe pthread_mutex_lock(mutex.address)
    let result = unsafe body(&state.address.pointee)
    unsafe pthread_cond_broadcast(condition.address)
    unsafe pthread_mutex_unlock(mutex.address)
    return result
  }

  /// Calls `body` now and after every change of the value, until `body` returns a result.
  package func wait<Result>(_ body: (inout State) -> Result?) -> Result {
    while true {
      if let result = wait(until: nil, body) { return result }
    }
  }

  /// Like ``wait(_:)``, but waits only until `deadline`, when `body` is called one last time. Returns nil if that call
  /// returns no result. If `deadline` is nil, the wait has no time limit.
  package func wait<Result>(
    until deadline: ContinuousClock.Instant?, _ body: (inout State) -> Result?
  ) -> Result? {
    unsafe pthread_mutex_lock(mutex.address)
    defer { unsafe pthread_mutex_unlock(mutex.address) }
    let moment = deadline.map(Self.monotonicTime)
    var isOver = false
    while true {
      if let result = unsafe body(&state.address.pointee) {
        unsafe pthread_cond_broadcast(condition.address)
        return result
      }
      if isOver { return nil }
      if var moment {
        isOver =
          unsafe pthread_cond_timedwait(
            condition.address, mutex.address, &moment) != 0
      } else {
        unsafe pthread_cond_wait(condition.address, mutex.address)
      }
    }
  }

  /// Returns the time of `instant` on the monotonic clock, assuming that the machine is not suspended before `instant`.
  ///
  /// `timespec` is accessed as two words and not by the names of its members. Which module declares the members depends
  /// on the kind of build, so in some builds, their names are not available in this file.
  private static func monotonicTime(of instant: ContinuousClock.Instant) -> timespec {
    var now = unsafe unsafeBitCast((0, 0), to: timespec.self)
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    let (passed, nanoseconds) = unsafe unsafeBitCast(now, to: (Int, Int).self)
    // A wait that is too long for the words below is shortened.
    let wait = min(max(ContinuousClock.now.duration(to: instant), .zero), .seconds(1 << 40))
    let sum = Duration.seconds(passed) + .nanoseconds(nanoseconds) + wait
    let (seconds, attoseconds) = sum.components
    let words = (Int(seconds), Int(attoseconds / 1_000_000_000))
    return unsafe unsafeBitCast(words, to: timespec.self)
  }
}

extension TaskExecutor {
  /// Runs a job of this executor immediately on the current thread. Call this method once per job.
  package func run(_ job: UnownedJob) { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
}

#if SANITIZE_THREAD
  /// Replaces the standard `Mutex` in this module and its tests under the thread sanitizer.
  ///
  /// The standard `Mutex` hands over a contended lock inside the kernel (`FUTEX_LOCK_PI`), which the sanitizer cannot
  /// see. The sanitizer therefore reports a race even in a program of a dozen lines that does nothing but lock. The
  /// sanitizer does understand `pthread_mutex_t`. This type is compiled only with `-Xswiftc -DSANITIZE_THREAD`, never
  /// in a release.
  @safe
  package struct PthreadMutex<Value: ~Copyable>: ~Copyable, Sendable {
    private let lock = unsafe Pinned(pthread_mutex_t())
    private let value: Pinned<Value>

    package init(_ initial: consuming sending Value) {
      value = Pinned(initial)
      unsafe pthread_mutex_init(lock.address, nil)
    }

    deinit { unsafe pthread_mutex_destroy(lock.address) }

    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      unsafe pthread_mutex_lock(lock.address)
      defer { unsafe pthread_mutex_unlock(lock.address) }
      return try unsafe body(&value.address.pointee)
    }

    /// Calls `body` with the lock held, or returns nil if another thread holds the lock.
    package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
      guard unsafe pthread_mutex_trylock(lock.address) == 0 else { return nil }
      defer { unsafe pthread_mutex_unlock(lock.address) }
      return try unsafe body(&value.address.pointee)
    }
  }

  typealias Mutex = PthreadMutex
#endif
