import Glibc

/// The system's semaphore: one futex call to wake a thread, one to sleep.
final class Semaphore: @unchecked Sendable {
  // Sendable: the pointer never changes, and the system's semaphore may be used on any thread.
  private let semaphore: UnsafeMutablePointer<sem_t>

  init() {
    unsafe semaphore = .allocate(capacity: 1)
    unsafe sem_init(semaphore, 0, 0)
  }

  deinit {
    unsafe sem_destroy(semaphore)
    unsafe semaphore.deallocate()
  }

  func post() { unsafe sem_post(semaphore) }

  func wait() { while unsafe sem_wait(semaphore) != 0 {} }
}
