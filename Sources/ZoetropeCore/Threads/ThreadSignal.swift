internal import Glibc

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
