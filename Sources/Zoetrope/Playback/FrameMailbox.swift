internal import Synchronization

/// The place for one frame between a scheduler and its consumer.
///
/// Nobody is resumed under the lock: resuming takes the waiting task's own lock, which
/// `Task.cancel()` holds while it calls the handlers below, and these want this lock.
final class FrameMailbox: Sendable {
  private struct State {
    var frame: ScheduledFrame?
    var isFinished = false
    var consumers: [(id: Int, continuation: CheckedContinuation<ScheduledFrame?, Never>)] = []
    /// Who waits for space. More than one only while a driver that was replaced has not left yet.
    var producers: [any PlaybackThread.Client] = []
    var nextID = 0

    /// Takes the waiting producers out, to be called once the lock is free.
    mutating func releaseProducers() -> [any PlaybackThread.Client] {
      defer { producers = [] }
      return producers
    }

    /// What a consumer that asks now gets.
    mutating func answer() -> Answer {
      if let frame {
        self.frame = nil
        return .frame(frame, releaseProducers())
      }
      return isFinished ? .end : .wait
    }

    mutating func makeID() -> Int {
      nextID += 1
      return nextID
    }
  }

  private let state = Mutex(State())

  /// What comes of putting a frame in.
  struct Delivery {
    fileprivate let frame: ScheduledFrame
    fileprivate let consumer: CheckedContinuation<ScheduledFrame?, Never>?
    /// Whether the frame took the place of one that nobody had taken.
    let hasReplaced: Bool

    /// Wakes the consumer that waited for it. To be called once, under no lock.
    func finish() { consumer?.resume(returning: frame) }
  }

  /// Puts `frame` in, or gives it to the consumer that waits: ``Delivery/finish()`` wakes that one.
  ///
  /// In two steps, so that a session can order its frames by its lock and wake nobody under it. A
  /// frame that takes the place of one counts that one as skipped and covers what it drew.
  func put(_ frame: ScheduledFrame) -> Delivery {
    state.withLock { state in
      guard !state.isFinished else {
        return Delivery(frame: frame, consumer: nil, hasReplaced: false)
      }
      if !state.consumers.isEmpty {
        let consumer = state.consumers.removeFirst().continuation
        return Delivery(frame: frame, consumer: consumer, hasReplaced: false)
      }
      var frame = frame
      let old = state.frame
      if let old {
        frame.skipped += old.skipped + 1
        frame.dirtyRect = frame.dirtyRect.union(old.dirtyRect)
      }
      state.frame = frame
      return Delivery(frame: frame, consumer: nil, hasReplaced: old != nil)
    }
  }

  /// What a consumer that asks for a frame gets.
  private enum Answer {
    case frame(ScheduledFrame, [any PlaybackThread.Client])
    case end
    case wait
  }

  /// Takes the frame, waiting for one; nil when there will be none or the task is cancelled.
  func take() async -> ScheduledFrame? {
    if Task.isCancelled { return nil }
    let (answer, id) = state.withLock { ($0.answer(), $0.makeID()) }
    switch answer {
    case .frame(let frame, let producers):
      for producer in producers { PlaybackThread.shared.call(producer, after: .signal) }
      return frame
    case .end: return nil
    case .wait: return await waitForFrame(as: id)
    }
  }

  private func waitForFrame(as id: Int) async -> ScheduledFrame? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer = state.withLock { state -> Answer in
          if Task.isCancelled { return .end }
          let answer = state.answer()
          if case .wait = answer { state.consumers.append((id, continuation)) }
          return answer
        }
        switch answer {
        case .frame(let frame, let producers):
          for producer in producers { PlaybackThread.shared.call(producer, after: .signal) }
          continuation.resume(returning: frame)
        case .end: continuation.resume(returning: nil)
        case .wait: break
        }
      }
    } onCancel: {
      let consumer = state.withLock { state in
        state.consumers.firstIndex(where: { $0.id == id }).map {
          state.consumers.remove(at: $0).continuation
        }
      }
      consumer?.resume(returning: nil)
    }
  }

  /// Whether no frame waits to be taken.
  var isEmpty: Bool { state.withLock { $0.frame == nil } }

  /// Whether the last frame was taken, or the stream has ended; if not, `producer` is called then.
  func hasSpace(orCall producer: any PlaybackThread.Client) -> Bool {
    state.withLock { state in
      if state.frame == nil || state.isFinished { return true }
      // Looked at under the lock: who becomes obsolete is taken out after it says so.
      if !producer.isObsolete { state.producers.append(producer) }
      return false
    }
  }

  /// Forgets a producer that has become obsolete.
  func removeProducer(_ producer: any PlaybackThread.Client) {
    let removed = state.withLock { state in
      let removed = state.producers.filter { $0 === producer }
      if !removed.isEmpty { state.producers.removeAll { $0 === producer } }
      return removed
    }
    _ = consume removed
  }

  /// Ends the stream; what was not taken yet is kept for the consumer or dropped.
  func finish(keepingFrame: Bool) {
    let (consumers, producers, dropped) = state.withLock { state in
      state.isFinished = true
      let dropped = keepingFrame ? nil : state.frame
      if !keepingFrame { state.frame = nil }
      defer { state.consumers = [] }
      return (state.consumers.map(\.continuation), state.releaseProducers(), dropped)
    }
    for consumer in consumers { consumer.resume(returning: nil) }
    for producer in producers { PlaybackThread.shared.call(producer, after: .signal) }
    _ = consume dropped
  }
}
