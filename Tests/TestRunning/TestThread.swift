import Dispatch
import Foundation
import Synchronization

#if SANITIZE_THREAD
  import Zoetrope
#endif

/// A thread that runs the tasks which prefer it; they may block it.
public final class TestThread: TaskExecutor {
  private struct State {
    var jobs: [UnownedJob] = []
    var isEnded = false
  }
  private let state = Mutex(State())
  private let isWanted = DispatchSemaphore(value: 0)

  /// Starts the thread.
  public init() {
    let thread = Thread { [self] in run() }
    // As large as that of the main thread: tests recurse deeper than code that normally runs on threads.
    thread.stackSize = 8 << 20
    thread.start()
  }

  /// Runs `body` on a thread of its own, which it may block.
  public static func run<Value: Sendable>(
    _ body: @Sendable @concurrent () async throws -> Value
  ) async rethrows -> Value {
    let thread = TestThread()
    defer { thread.end() }
    return try await withTaskExecutorPreference(thread) { try await body() }
  }

  /// Adds a job; jobs run in the order in which they arrive.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.withLock { $0.jobs.append(job) }
    isWanted.signal()
  }

  /// Lets the thread end once all its jobs have run.
  public func end() {
    state.withLock { $0.isEnded = true }
    isWanted.signal()
  }

  private func run() {
    while true {
      isWanted.wait()
      let (job, isEnded) = state.withLock { state in
        (state.jobs.isEmpty ? nil : state.jobs.removeFirst(), state.isEnded)
      }
      if let job {
        unsafe job.runSynchronously(on: asUnownedTaskExecutor())
      } else if isEnded {
        return
      }
    }
  }
}
