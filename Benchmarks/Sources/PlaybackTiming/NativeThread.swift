import Glibc

/// A thread outside Swift's cooperative pool.
enum NativeThread {
  private final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  static func start(_ body: @escaping @Sendable () -> Void) {
    // Retained here, released by the thread.
    let argument = unsafe Unmanaged.passRetained(Body(body)).toOpaque()
    var thread = pthread_t()
    unsafe pthread_create(
      &thread, nil,
      { argument in
        if let argument = unsafe argument {
          unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
        }
        return nil
      }, argument)
    pthread_detach(thread)
  }
}
