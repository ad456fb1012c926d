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
    var producer: (id: Int, continuation: CheckedContinuation<Void, Never>)?
    var nextID = 0

    /// Takes the waiting producer out, to be resumed once the lock is free.
    mutating func releaseProducer() -> CheckedContinuation<Void, Never>? {
      defer { producer = nil }
      return producer?.continuation
    }

    mutating func makeID() -> Int {
      nextID += 1
      return nextID
    }
  }

  private let state = Mutex(State())

  /// Puts `frame` in; true when it took the place of one that nobody had taken.
  ///
  /// The new frame then counts the old one as skipped and covers what that one drew.
  func put(_ frame: ScheduledFrame) -> Bool {
    let (consumer, hasReplaced) = state.withLock {
      state -> (CheckedContinuation<ScheduledFrame?, Never>?, Bool) in
      guard !state.isFinished else { return (nil, false) }
      if !state.consumers.isEmpty { return (state.consumers.removeFirst().continuation, false) }
      var frame = frame
      let old = state.frame
      if let old {
        frame.skipped += old.skipped + 1
        frame.dirtyRect = frame.dirtyRect.union(old.dirtyRect)
      }
      state.frame = frame
      return (nil, old != nil)
    }
    consumer?.resume(returning: frame)
    return hasReplaced
  }

  /// What a consumer that asks for a frame gets.
  private enum Answer {
    case frame(ScheduledFrame, CheckedContinuation<Void, Never>?)
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
            return .frame(frame, state.releaseProducer())
          }
          if state.isFinished { return .end }
          state.consumers.append((id, continuation))
          return .wait
        }
        switch answer {
        case .frame(let frame, let producer):
          producer?.resume()
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
        let resumed = state.withLock { state -> CheckedContinuation<Void, Never>? in
          if state.frame == nil || state.isFinished || Task.isCancelled { return continuation }
          // A driver that was replaced may still be here; it only has to leave.
          let replaced = state.releaseProducer()
          state.producer = (id, continuation)
          return replaced
        }
        resumed?.resume()
      }
    } onCancel: {
      let producer = state.withLock { state in
        state.producer?.id == id ? state.releaseProducer() : nil
      }
      producer?.resume()
    }
  }

  /// Ends the stream; what was not taken yet is kept for the consumer or dropped.
  func finish(keepingFrame: Bool) {
    let (consumers, producer) = state.withLock { state in
      state.isFinished = true
      if !keepingFrame { state.frame = nil }
      defer { state.consumers = [] }
      return (state.consumers.map(\.continuation), state.releaseProducer())
    }
    for consumer in consumers { consumer.resume(returning: nil) }
    producer?.resume()
  }
}
