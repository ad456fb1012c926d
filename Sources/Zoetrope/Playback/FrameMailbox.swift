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
    /// More than one only while a driver that was replaced has not left yet.
    var producers: [(id: Int, continuation: CheckedContinuation<Void, Never>)] = []
    var nextID = 0

    /// Takes the waiting producers out, to be resumed once the lock is free.
    mutating func releaseProducers() -> [CheckedContinuation<Void, Never>] {
      defer { producers = [] }
      return producers.map(\.continuation)
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
    case frame(ScheduledFrame, [CheckedContinuation<Void, Never>])
    case end
    case wait
  }

  /// Takes the frame, waiting for one; nil when there will be none or the task is cancelled.
  func take() async -> ScheduledFrame? {
    let id = state.withLock { $0.makeID() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer = state.withLock { state -> Answer in
          if Task.isCancelled { return .end }
          if let frame = state.frame {
            state.frame = nil
            return .frame(frame, state.releaseProducers())
          }
          if state.isFinished { return .end }
          state.consumers.append((id, continuation))
          return .wait
        }
        switch answer {
        case .frame(let frame, let producers):
          for producer in producers { producer.resume() }
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

  /// Waits until the frame was taken, or the task is cancelled.
  func space() async {
    let id = state.withLock { $0.makeID() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let hasSpace = state.withLock { state in
          if state.frame == nil || state.isFinished || Task.isCancelled { return true }
          state.producers.append((id, continuation))
          return false
        }
        if hasSpace { continuation.resume() }
      }
    } onCancel: {
      let producer = state.withLock { state in
        state.producers.firstIndex(where: { $0.id == id }).map {
          state.producers.remove(at: $0).continuation
        }
      }
      producer?.resume()
    }
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
    for producer in producers { producer.resume() }
    _ = consume dropped
  }
}
