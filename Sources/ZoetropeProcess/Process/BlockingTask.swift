internal import Zoetrope

/// Waits for asynchronous work on the main thread.
package enum BlockingTask {
  /// Runs `work` on the cooperative pool and blocks the calling thread until it is done. Must not be called from the
  /// pool itself.
  package static func run<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) -> Value {
    let result = Monitor<Value?>(nil)
    Task {
      let value = await work()
      result.update { $0 = value }
    }
    return result.wait { $0 }
  }
}
