internal import Zoetrope

/// Blocks a thread until asynchronous work is done. The main thread of the tool may be blocked in this way.
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
