internal import DequeModule
internal import Synchronization

/// Encodes frames on several threads and writes them in order.
///
/// A thread that submits a frame while too many are in progress encodes a frame itself, so it never waits for threads
/// that are busy with other work. Threads of ``DecodeThreads/writing`` help. Only submitting threads write to the sink,
/// because the sink may block and the helpers have other work to do.
final class EncodingQueue: Sendable {
  /// A frame of the file, to be encoded and written.
  struct Job: Sendable {
    var work: FrameWork
    var delay: FrameDelay
    var disposal: DisposalMethod
    /// The index of the appended frame, or nil for the static image, which is not a frame.
    var index: Int?

    init(_ work: FrameWork, delay: FrameDelay, disposal: DisposalMethod, index: Int?) {
      (self.work, self.delay, self.disposal, self.index) = (work, delay, disposal, index)
      self.work.isCleared = disposal == .background
    }
  }

  fileprivate struct State {
    var waiting: Deque<(place: Int, job: Job)> = []
    var ready: [Int: (coded: CodedFrame, job: Job)] = [:]
    /// The number of jobs submitted so far.
    var submitted = 0
    /// The number of the next job to be written.
    var next = 0
    var isEmitting = false
    /// The number of threads that help the submitting thread.
    var helperCount = 0
    var helperLimit = 0
    /// The maximum number of jobs in progress.
    var window = 1
    var idle: [any FrameCompressing] = []
    var encoder: (any AnimationEncoding)?
    var failure: AnimatedImageError?
    var isAbandoned = false
    var isFinished = false
    var frameCount = 0
    var byteCount = 0
  }

  private let state = Monitor(State())
  private let flag: CancelFlag
  /// Returns whether the work has ended early. It is polled every few rows. It does not capture the queue, because the
  /// queue's sink may hold this closure.
  let hasEnded: @Sendable () -> Bool
  private let output: Mutex<AnimationOutput>

  /// Creates a queue that writes to `output`.
  ///
  /// - Parameter isCancelled: A closure that is polled, and that returns true to end the work early.
  init(_ output: AnimationOutput, isCancelled: @escaping @Sendable () -> Bool) {
    self.output = Mutex(output)
    let flag = CancelFlag()
    self.flag = flag
    hasEnded = { flag.isRaised || isCancelled() }
  }

  /// Sets the encoder. Called once, before the first job.
  ///
  /// - Parameters:
  ///   - threads: The maximum number of threads that encode at the same time.
  ///   - window: The maximum number of jobs in progress.
  func begin(_ encoder: any AnimationEncoding, threads: Int, window: Int) {
    output.withLock { $0.begin(encoder) }
    state.update { state in
      state.encoder = encoder
      state.helperLimit = threads - 1
      state.window = max(window, 1)
    }
  }

  /// The numbers of frames and bytes written so far.
  var progress: (frames: Int, bytes: Int) { state.update { ($0.frameCount, $0.byteCount) } }

  /// Whether the work has ended early, because it was cancelled or has failed.
  var isCancelled: Bool { hasEnded() }

  /// The error that ended the work early, or nil.
  private var failure: AnimatedImageError? { state.update { $0.failure } }

  /// Throws the error that ended the work early, if it has ended early.
  func check() throws(AnimatedImageError) {
    if let failure { throw failure }
    if isCancelled { throw Self.cancelled }
  }

  /// Submits a frame, and returns once there is room for another one. Calls of this method and of ``finish()`` must not
  /// overlap.
  func submit(_ job: Job) throws(AnimatedImageError) {
    let needsHelper = state.update { state in
      guard state.failure == nil else { return false }
      state.waiting.append((state.submitted, job))
      state.submitted += 1
      guard state.helperCount < min(state.helperLimit, state.waiting.count) else { return false }
      state.helperCount += 1
      return true
    }
    if needsHelper { DecodeThreads.writing.run(isOptional: true) { [self] in help() } }
    try work { $0.submitted - $0.next < $0.window }
  }

  /// What the submitting thread does next.
  private enum Step {
    case emit
    case encode(Job, place: Int)
    case end
  }

  /// Writes the frames that are ready and encodes others until `isDone` returns true. Waits for other threads while
  /// there is nothing to do.
  private func work(until isDone: (State) -> Bool) throws(AnimatedImageError) {
    while true {
      let step: Step = state.wait { state in
        if state.failure != nil { return .end }
        if state.startEmitting() { return .emit }
        if isDone(state) { return .end }
        return state.waiting.popFirst().map { .encode($0.job, place: $0.place) }
      }
      switch step {
      case .emit: emit()
      case .encode(let job, let place): encode(job, place)
      case .end:
        guard let failure else { return }
        // The thread that has failed may not have abandoned the output yet. Callers rely on that it is abandoned.
        output.withLock { $0.abandon() }
        throw failure
      }
    }
  }

  /// Encodes frames until none is waiting. Helper threads run this method.
  private func help() {
    while let (place, job) = state.update({ state in
      let next = state.waiting.popFirst()
      if next == nil { state.helperCount -= 1 }
      return next
    }) {
      encode(job, place)
    }
  }

  private func encode(_ job: Job, _ place: Int) {
    let found = state.update { state in
      state.idle.popLast() ?? state.encoder?.makeFrameEncoder(effort: nil)
    }
    guard let encoder = found else { preconditionFailure("a frame before the first one") }
    do throws(AnimatedImageError) {
      let coded = try encoder.encode(job.work) { isCancelled }
      state.update { state in
        state.idle.append(encoder)
        state.ready[place] = (coded, job)
      }
    } catch {
      fail(job.index.map { error.inFrame($0) } ?? error)
    }
  }

  /// Writes frames in order until the next one is not ready.
  private func emit() {
    while let (coded, job) = state.update({ $0.takeNext() }) {
      do throws(AnimatedImageError) {
        let count = try output.withLock { (output) throws(AnimatedImageError) in
          try output.write(coded, job)
          return (output.frameCount, output.byteCount)
        }
        state.update { state in
          state.next += 1
          (state.frameCount, state.byteCount) = count
        }
      } catch {
        // Other threads do not abandon the output while this thread writes, so this thread has to.
        output.withLock { $0.abandon() }
        state.update { state in
          state.end(error)
          (state.isEmitting, state.isAbandoned) = (false, true)
        }
        flag.raise()
        return
      }
    }
    abandonIfFailed()
  }

  /// Waits until all frames have been written, and completes the file.
  ///
  /// - Returns: The numbers of frames and bytes in the file.
  func finish() throws(AnimatedImageError) -> (frames: Int, bytes: Int) {
    try work { $0.next == $0.submitted }
    let isMine = state.update { state in
      state.isEmitting = state.failure == nil
      return state.isEmitting
    }
    guard isMine else {
      output.withLock { $0.abandon() }
      throw failure ?? Self.cancelled
    }
    do throws(AnimatedImageError) {
      let count = try output.withLock { (output) throws(AnimatedImageError) in
        try output.finish()
        return (frames: output.frameCount, bytes: output.byteCount)
      }
      // The file is complete, even if the work has been cancelled in the meantime.
      state.update { state in
        state.isFinished = true
        state.byteCount = count.bytes
        state.idle = []
      }
      return count
    } catch {
      state.update { $0.isEmitting = false }
      fail(error)
      throw error
    }
  }

  static let cancelled = AnimatedImageError(.cancelled, "stopped while writing")

  /// Ends all work with `error`, unless the work has already ended. Does not wait for other threads.
  func fail(_ error: AnimatedImageError) {
    // Record the error before raising the flag: a thread that sees the flag without an error assumes cancellation.
    state.update { $0.end(error) }
    flag.raise()
    abandonIfFailed()
  }

  /// Abandons the output after a failure, unless a thread is writing to it.
  private func abandonIfFailed() {
    let isMine = state.update { state in
      guard state.failure != nil, !state.isEmitting, !state.isAbandoned, !state.isFinished else {
        return false
      }
      state.isAbandoned = true
      return true
    }
    if isMine { output.withLock { $0.abandon() } }
  }
}

extension EncodingQueue.State {
  /// Ends all work with `error`. If an earlier error has already ended the work, that error remains.
  fileprivate mutating func end(_ error: AnimatedImageError) {
    if failure == nil { failure = error }
    waiting = []
    ready = [:]
    idle = []
  }

  /// Returns whether the next frame is ready. If it is, the calling thread has to write it.
  fileprivate mutating func startEmitting() -> Bool {
    isEmitting = ready[next] != nil
    return isEmitting
  }

  /// Removes and returns the next frame to write. Returns nil if that frame is not ready, or after a failure.
  fileprivate mutating func takeNext() -> (coded: CodedFrame, job: EncodingQueue.Job)? {
    let frame = failure == nil ? ready.removeValue(forKey: next) : nil
    if frame == nil { isEmitting = false }
    return frame
  }
}
