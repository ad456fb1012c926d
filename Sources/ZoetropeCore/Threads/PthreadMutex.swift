#if SANITIZE_THREAD
  internal import Glibc

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
