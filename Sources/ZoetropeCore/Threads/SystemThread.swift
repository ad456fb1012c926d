internal import Glibc

// Threads, semaphores and locks of the system.
//
// Unsafe: pthread takes a context pointer, semaphores and mutexes an address that does not move. The
// context is retained until the thread has taken it over; the addresses are allocated in `init`, freed in
// `deinit` and handed to nobody.

/// A thread of the system that runs one closure; to be joined or detached, once.
///
/// Decoding and encoding block for milliseconds: they get threads of their own and stay out of Swift's
/// cooperative pool, which they would starve, and whose start costs a tool time that it does not have.
package struct SystemThread: Sendable {
  private let handle: pthread_t

  /// A closure on its way to a new thread.
  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// Starts it; nil when the system has no thread to give.
  package init?(_ body: @escaping @Sendable () -> Void) {
    // Retained here, released by the new thread, or below when there is none.
    let argument = unsafe Unmanaged.passRetained(Body(body)).toOpaque()
    var handle = pthread_t()
    guard unsafe pthread_create(&handle, nil, Self.run, argument) == 0 else {
      unsafe Unmanaged<Body>.fromOpaque(argument).release()
      return nil
    }
    self.handle = handle
  }

  /// What a new thread calls with the body that was retained for it.
  private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
    argument in
    if let argument = unsafe argument {
      unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
    }
    return nil
  }

  /// Waits until the closure has returned.
  package func join() { pthread_join(handle, nil) }

  /// Leaves it to itself.
  package func detach() { pthread_detach(handle) }
}

/// Starts a detached thread; false when the system has none left.
package func startThread(running body: @escaping @Sendable () -> Void) -> Bool {
  guard let thread = SystemThread(body) else { return false }
  thread.detach()
  return true
}

/// A counting signal between threads.
///
/// Unsafe code sits here so that `DecodeThreads` needs none: the semaphore lives at one address from
/// `init` to `deinit`, and each call below borrows the object that owns it.
@safe
package final class ThreadSignal: @unchecked Sendable {
  // Sendable: `sem_t` is made to be used from several threads, and the pointer itself never changes;
  // it is freed in `deinit`, when nobody holds this object any more.
  private let semaphore: UnsafeMutablePointer<sem_t>

  package init() {
    unsafe semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    unsafe sem_init(semaphore, 0, 0)
  }

  deinit {
    unsafe sem_destroy(semaphore)
    unsafe semaphore.deallocate()
  }

  /// Lets one ``wait()`` return, now or later.
  package func post() { unsafe _ = sem_post(semaphore) }

  /// Blocks the thread until a ``post()`` is left over.
  ///
  /// - Parameter looks: How often to look for one before the thread sleeps.
  package func wait(looks: Int = 0) {
    for _ in 0..<looks {
      if unsafe sem_trywait(semaphore) == 0 { return }
      sched_yield()
    }
    while unsafe sem_wait(semaphore) != 0 {}
  }
}

#if SANITIZE_THREAD
  /// Takes the place of the standard `Mutex` in this module and in those of its tests while the thread
  /// sanitizer looks on.
  ///
  /// The standard one hands a contended lock over inside the kernel (`FUTEX_LOCK_PI`), which the
  /// sanitizer cannot see: a dozen lines that do nothing but lock are reported as a race. It
  /// does know `pthread_mutex_t`. Built with `-Xswiftc -DSANITIZE_THREAD`; never part of a release.
  @safe
  package struct PthreadMutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    // Sendable: the value is reached only between lock and unlock; both pointers are made in `init`,
    // freed in `deinit`, and never change in between.
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    package init(_ initial: consuming sending Value) {
      unsafe lock = .allocate(capacity: 1)
      unsafe pthread_mutex_init(lock, nil)
      unsafe value = .allocate(capacity: 1)
      unsafe value.initialize(to: initial)
    }

    deinit {
      unsafe value.deinitialize(count: 1)
      unsafe value.deallocate()
      unsafe pthread_mutex_destroy(lock)
      unsafe lock.deallocate()
    }

    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      unsafe pthread_mutex_lock(lock)
      defer { unsafe pthread_mutex_unlock(lock) }
      return try unsafe body(&value.pointee)
    }

    /// Nil when another thread has the lock.
    package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
      guard unsafe pthread_mutex_trylock(lock) == 0 else { return nil }
      defer { unsafe pthread_mutex_unlock(lock) }
      return try unsafe body(&value.pointee)
    }
  }

  typealias Mutex = PthreadMutex
#endif
