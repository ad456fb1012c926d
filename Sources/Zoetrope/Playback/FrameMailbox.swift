internal import Synchronization

/// The place for one frame between a scheduler and its consumer.
final class FrameMailbox: Sendable {
  private struct State {
    var frame: ScheduledFrame?
    var isFinished = false
    var consumers: [(id: Int, continuation: CheckedContinuation<ScheduledFrame?, Never>)] = []
    var producer: (id: Int, continuation: CheckedContinuation<Void, Never>)?
    var nextID = 0

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
    state.withLock { state in
      guard !state.isFinished else { return false }
      if !state.consumers.isEmpty {
        state.consumers.removeFirst().continuation.resume(returning: frame)
        return false
      }
      var frame = frame
      let old = state.frame
      if let old {
        frame.skipped += old.skipped + 1
        frame.dirtyRect = frame.dirtyRect.union(old.dirtyRect)
      }
      state.frame = frame
      return old != nil
    }
  }

  /// Takes the frame, waiting for one; nil when there will be none or the task is cancelled.
  func take() async -> ScheduledFrame? {
    let id = state.withLock { $0.makeID() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        state.withLock { state in
          if Task.isCancelled {
            continuation.resume(returning: nil)
          } else if let frame = state.frame {
            state.frame = nil
            state.producer?.continuation.resume()
            state.producer = nil
            continuation.resume(returning: frame)
          } else if state.isFinished {
            continuation.resume(returning: nil)
          } else {
            state.consumers.append((id, continuation))
          }
        }
      }
    } onCancel: {
      state.withLock { state in
        guard let place = state.consumers.firstIndex(where: { $0.id == id }) else { return }
        state.consumers.remove(at: place).continuation.resume(returning: nil)
      }
    }
  }

  /// Waits until the frame was taken, or the task is cancelled.
  func space() async {
    let id = state.withLock { $0.makeID() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        state.withLock { state in
          if state.frame == nil || state.isFinished || Task.isCancelled {
            continuation.resume()
          } else {
            // A driver that was replaced may still be here; it only has to leave.
            state.producer?.continuation.resume()
            state.producer = (id, continuation)
          }
        }
      }
    } onCancel: {
      state.withLock { state in
        guard state.producer?.id == id else { return }
        state.producer?.continuation.resume()
        state.producer = nil
      }
    }
  }

  /// Ends the stream; what was not taken yet is kept for the consumer or dropped.
  func finish(keepingFrame: Bool) {
    state.withLock { state in
      state.isFinished = true
      if !keepingFrame { state.frame = nil }
      for consumer in state.consumers { consumer.continuation.resume(returning: nil) }
      state.consumers = []
      state.producer?.continuation.resume()
      state.producer = nil
    }
  }
}
