internal import Glibc
package import Synchronization
internal import ZoetropeShims

/// A thread of the system that runs one closure; to be joined or detached, once.
///
/// Decoding and encoding block for milliseconds: they get threads of their own and stay out of Swift's
/// cooperative pool, which they would starve, and whose start costs a tool time that it does not have.
package struct SystemThread: Sendable {
  private let handle: pthread_t

  /// Whether threads begin on another processor than the one that starts them; see `zt_thread.h`.
  /// Default: false, they begin where the system likes.
  package static let beginsElsewhere = Atomic<Bool>(false)

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
    let status =
      Self.beginsElsewhere.load(ordering: .relaxed)
      ? unsafe zt_thread_create(&handle, Self.run, argument)
      : unsafe pthread_create(&handle, nil, Self.run, argument)
    guard status == 0 else {
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
