internal import Zoetrope

/// Waits for asynchronous work on a thread that may block, such as the main thread.
package enum BlockingTask {
  /// Runs `work` on the cooperative thread pool and blocks the calling thread until `work` is done. Must not be called
  /// from a thread of that pool.
  package static func run<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) -> Value {
    let result = Monitor<Value?>(nil)
    Task {
      let value = await work()
      result.update { $0 = value }
    }
    return result.wait { $0 }
  }
}
