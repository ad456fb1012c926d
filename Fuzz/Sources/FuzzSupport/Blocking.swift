@testable import ZoetropeCore

/// Runs asynchronous code from libFuzzer's entry point, which is not.
public enum Blocking {
  /// Waits for `body`, which runs on the cooperative pool; the calling thread is none of that.
  public static func run(_ body: @escaping @Sendable () async -> Void) {
    let signal = ThreadSignal()
    Task.detached {
      await body()
      signal.post()
    }
    signal.wait()
  }
}
