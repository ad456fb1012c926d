internal import DequeModule
internal import Synchronization

/// Encodes frames on several threads and writes them in order.
///
/// A thread that submits a frame while enough are in progress encodes one itself, so it never waits for threads that
/// are busy with other work. Threads of ``DecodeThreads`` help. Only threads that submit write to the sink, which may
/// block: those that help have other work to do.
final class EncodingQueue: Sendable {
  /// A frame of the file.
  struct Job: Sendable {
    var work: FrameWork
    var delay: FrameDelay
    var disposal: DisposalMethod
    /// The frame as it was appended, from 0; nil for the static image, which is not a frame.
    var index: Int?
  }

  fileprivate struct State {
    var waiting: Deque<(place: Int, job: Job)> = []
    var ready: [Int: (coded: CodedFrame, job: Job)] = [:]
    /// Jobs submitted so far.
    var submitted = 0
    /// The job that the file waits for.
    var next = 0
    var isEmitting = false
    /// Threads that help, besides the one that submits.
    var helperCount = 0
    var helperLimit = 0
    /// The most jobs in progress.
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
  /// Whether the work has ended early; polled every few rows. Does not hold the queue, whose sink may hold it.
  let hasEnded: @Sendable () -> Bool
  private let output: Mutex<AnimationOutput>

  /// - Parameter isCancelled: Whether the work is to end early.
  init(_ output: AnimationOutput, isCancelled: @escaping @Sendable () -> Bool) {
    self.output = Mutex(output)
    let flag = CancelFlag()
    self.flag = flag
    hasEnded = { flag.isRaised || isCancelled() }
  }

  /// Sets the encoder, before the first job.
  ///
  /// - Parameters:
  ///   - threads: Threads that encode at a time.
  ///   - window: Jobs that may be in progress.
  func begin(_ encoder: any AnimationEncoding, threads: Int, window: Int) {
    output.withLock { $0.begin(encoder) }
    state.update { state in
      state.encoder = encoder
      state.helperLimit = threads - 1
      state.window = max(window, 1)
    }
  }

  /// Frames and bytes written so far.
  var progress: (frames: Int, bytes: Int) { state.update { ($0.frameCount, $0.byteCount) } }

  /// Whether the work has ended early.
  var isCancelled: Bool { hasEnded() }

  /// What ended the work early.
  private var failure: AnimatedImageError? { state.update { $0.failure } }

  /// Throws if the work has ended early.
  func check() throws(AnimatedImageError) {
    if let failure { throw failure }
    if isCancelled { throw Self.cancelled }
  }

  /// Submits a frame; returns once there is room for another one. No two threads submit or finish at a time.
  func submit(_ job: Job) throws(AnimatedImageError) {
    let needsHelper = state.update { state in
      guard state.failure == nil else { return false }
      state.waiting.append((state.submitted, job))
      state.submitted += 1
      guard state.helperCount < min(state.helperLimit, state.waiting.count) else { return false }
      state.helperCount += 1
      return true
    }
    if needsHelper { DecodeThreads.shared.run(isOptional: true) { [self] in help() } }
    try work { $0.submitted - $0.next < $0.window }
  }

  /// What the thread that submits does next.
  private enum Step {
    case emit
    case encode(Job, place: Int)
    case end
  }

  /// Writes what is ready and encodes until `isDone`, and waits for other threads if there is nothing to do.
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
        if let failure { throw failure }
        return
      }
    }
  }

  /// A helper's loop: ends when nothing waits.
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

  /// Writes the frames that are next and ready.
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
        // No other thread abandons the output while this one writes.
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

  /// Waits for all frames and completes the file.
  ///
  /// - Returns: Its frames and bytes.
  func finish() throws(AnimatedImageError) -> (frames: Int, bytes: Int) {
    try work { $0.next == $0.submitted }
    let isMine = state.update { state in
      state.isEmitting = state.failure == nil
      return state.isEmitting
    }
    guard isMine else { throw failure ?? Self.cancelled }
    do throws(AnimatedImageError) {
      let count = try output.withLock { (output) throws(AnimatedImageError) in
        try output.finish()
        return (frames: output.frameCount, bytes: output.byteCount)
      }
      // Even if it was cancelled meanwhile, the file is complete.
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

  static let cancelled = AnimatedImageError(.cancelled, "writing was cancelled")

  /// Ends all work with `error`, unless something else did before. Does not wait for other threads.
  func fail(_ error: AnimatedImageError) {
    // Record the error before raising the flag: a thread that sees the flag without an error assumes cancellation.
    state.update { $0.end(error) }
    flag.raise()
    abandonIfFailed()
  }

  /// Abandons the output after a failure, when nobody writes to it.
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
  /// Ends all work with `error`, unless something else did before.
  fileprivate mutating func end(_ error: AnimatedImageError) {
    if failure == nil { failure = error }
    waiting = []
    ready = [:]
    idle = []
  }

  /// Whether the calling thread should write: the next frame is ready.
  fileprivate mutating func startEmitting() -> Bool {
    isEmitting = ready[next] != nil
    return isEmitting
  }

  /// The frame to write; nil ends the writing.
  fileprivate mutating func takeNext() -> (coded: CodedFrame, job: EncodingQueue.Job)? {
    let frame = failure == nil ? ready.removeValue(forKey: next) : nil
    if frame == nil { isEmitting = false }
    return frame
  }
}
