/// Waits for asynchronous work on the main thread, which has nothing else to do.
enum BlockingTask {
  /// Runs `work` on the cooperative pool and blocks the calling thread, which must not be one of the
  /// pool's, until it is done.
  static func run<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) -> Value {
    let result = Monitor<Value?>(nil)
    Task {
      let value = await work()
      result.update { $0 = value }
    }
    return result.wait { $0 }
  }
}
