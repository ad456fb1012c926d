import Glibc

/// A thread that runs one closure.
///
/// Encoding blocks for tens of milliseconds: it gets threads of its own and stays out of Swift's
/// cooperative pool, which it would starve, and whose start costs a tool time that it does not have.
struct WorkerThread {
  private let handle: pthread_t

  /// Starts it; nil when the system has no thread to give.
  init?(_ body: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var handle = pthread_t()
    let box = unsafe Unmanaged.passRetained(Box(body))
    // The new thread takes over the one retain; when there is no thread it is released here.
    let result = unsafe pthread_create(
      &handle, nil,
      { pointer in
        guard let pointer = unsafe pointer else { return nil }
        unsafe Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().body()
        return nil
      }, box.toOpaque())
    guard result == 0 else {
      unsafe box.release()
      return nil
    }
    self.handle = handle
  }

  /// Waits until the closure has returned.
  func join() { pthread_join(handle, nil) }
}
