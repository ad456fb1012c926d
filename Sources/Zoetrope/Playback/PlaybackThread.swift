internal import Glibc
internal import Synchronization

/// The thread on which the playbacks of this process are driven, and its timer.
///
/// Why not the cooperative pool with the runtime's timer: that wakes two threads for each deadline, the
/// timer's and a pool thread, and a caller who blocks the pool makes every playback late. At 50 frames
/// a second, threads woke 7 times a frame there, which is most of what playing costs beside decoding;
/// here it is twice, this thread and the consumer's. What runs here is the deciding, a few
/// microseconds a frame, and the decoding of frames known to be quick.
final class PlaybackThread: TaskExecutor {
  static let shared = PlaybackThread()

  private struct Timer {
    let id: Int
    let deadline: ContinuousClock.Instant
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var jobs: [UnownedJob] = []
    /// The latest deadline first.
    var timers: [Timer] = []
    var nextID = 0
    /// Something to do when nothing else is.
    var spareWork: (@Sendable () -> Void)?
    var hasThread = false
    var thread: pthread_t?

    /// Whether this is the thread, which looks for work without being told.
    var isCurrent: Bool { thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }

    mutating func insert(_ timer: Timer) {
      var low = 0
      var high = timers.count
      while low < high {
        let middle = (low + high) / 2
        if timers[middle].deadline > timer.deadline { low = middle + 1 } else { high = middle }
      }
      timers.insert(timer, at: low)
    }
  }

  private let state = Mutex(State())
  private let signal = TimedSignal()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let (isElsewhere, startsThread) = state.withLock { state in
      state.jobs.append(job)
      defer { state.hasThread = true }
      return (!state.isCurrent, !state.hasThread)
    }
    // A system without a thread to spare gets another chance with the next job.
    if startsThread, !startThread(running: { [self] in loop() }) {
      state.withLock { $0.hasThread = false }
    }
    if isElsewhere { signal.post() }
  }

  /// Returns at `deadline`, or at once when the task is cancelled.
  func sleep(until deadline: ContinuousClock.Instant) async {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (isCancelled, isElsewhere) = state.withLock { state in
          if Task.isCancelled { return (true, false) }
          state.insert(Timer(id: id, deadline: deadline, continuation: continuation))
          return (false, !state.isCurrent)
        }
        if isCancelled { continuation.resume() }
        if isElsewhere { signal.post() }
      }
    } onCancel: {
      let timer = state.withLock { state in
        state.timers.firstIndex { $0.id == id }.map { state.timers.remove(at: $0) }
      }
      timer?.continuation.resume()
    }
  }

  /// Takes `work`, which lasts about `time`, if it was this thread that asked and it has nothing
  /// better to do meanwhile.
  func offer(_ work: @escaping @Sendable () -> Void, lasting time: Duration) -> Bool {
    state.withLock { state in
      guard state.isCurrent, state.spareWork == nil, state.jobs.isEmpty else { return false }
      if let next = state.timers.last, ContinuousClock.now.advanced(by: time) > next.deadline {
        return false
      }
      state.spareWork = work
      return true
    }
  }

  private func loop() -> Never {
    state.withLock { $0.thread = pthread_self() }
    while true {
      let now = ContinuousClock.now
      let (jobs, due, spareWork, next) = state.withLock { state in
        var due: [Timer] = []
        while let last = state.timers.last, last.deadline <= now {
          due.append(state.timers.removeLast())
        }
        defer { state.jobs = [] }
        let isBusy = !due.isEmpty || !state.jobs.isEmpty
        return (state.jobs, due, isBusy ? nil : state.spareWork.take(), state.timers.last?.deadline)
      }
      for timer in due { timer.continuation.resume() }
      for job in jobs { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
      spareWork?()
      if jobs.isEmpty, due.isEmpty, spareWork == nil { signal.wait(until: next) }
    }
  }
}
