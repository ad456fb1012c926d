internal import Synchronization

/// The place for one frame between a session and its consumer.
///
/// Continuations and clients are never called under the lock (see ``ResultHandover``).
final class FrameMailbox: Sendable {
  private struct State {
    var frame: ScheduledFrame?
    var isFinished = false
    var consumers: [ResultHandover<ScheduledFrame>] = []
    /// Drivers waiting for space. More than one only until a replaced driver has left.
    var producers: [any PlaybackThread.Client] = []

    mutating func takeProducers() -> [any PlaybackThread.Client] {
      defer { producers = [] }
      return producers
    }
  }

  private let state = Mutex(State())

  /// The outcome of ``FrameMailbox/put(_:)``.
  struct Delivery {
    fileprivate let frame: ScheduledFrame
    fileprivate let consumer: ResultHandover<ScheduledFrame>?
    /// Whether the frame replaced one that was not consumed.
    let hasReplaced: Bool

    /// Wakes the consumer that waited for the frame. Call it once, with no lock held.
    ///
    /// A consumer cancelled in between does not get the frame, which is lost with its session.
    func finish() { consumer?.close(with: frame) }
  }

  /// Stores `frame`, or assigns it to the consumer that waits, which ``Delivery/finish()`` wakes.
  ///
  /// Two steps let a session order its frames under its own lock without waking anyone under it. A frame
  /// that replaces another counts that one as skipped and includes its dirty rectangle.
  func put(_ frame: ScheduledFrame) -> Delivery {
    state.withLock { state in
      guard !state.isFinished else {
        return Delivery(frame: frame, consumer: nil, hasReplaced: false)
      }
      if !state.consumers.isEmpty {
        return Delivery(
          frame: frame, consumer: state.consumers.removeFirst(), hasReplaced: false)
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

  /// The answer to a consumer that requests a frame.
  private enum Answer {
    case frame(ScheduledFrame, [any PlaybackThread.Client])
    case end
    case wait(ResultHandover<ScheduledFrame>)
  }

  /// Takes the frame, waiting if there is none; nil if the stream has ended or the task is cancelled.
  func take() async -> ScheduledFrame? {
    if Task.isCancelled { return nil }
    let answer = state.withLock { state -> Answer in
      if let frame = state.frame.take() { return .frame(frame, state.takeProducers()) }
      if state.isFinished { return .end }
      let consumer = ResultHandover<ScheduledFrame>()
      state.consumers.append(consumer)
      return .wait(consumer)
    }
    switch answer {
    case .frame(let frame, let producers):
      for producer in producers { PlaybackThread.shared.call(producer, after: .signal) }
      return frame
    case .end: return nil
    case .wait(let consumer):
      return await consumer.valueUnlessCancelled { [self] in
        state.withLock { state in state.consumers.removeAll { $0 === consumer } }
      }
    }
  }

  /// Whether no frame is waiting to be consumed.
  var isEmpty: Bool { state.withLock { $0.frame == nil } }

  /// Whether the last frame was consumed or the stream has ended. If not, `producer` is called when that
  /// happens.
  func hasSpace(orCall producer: any PlaybackThread.Client) -> Bool {
    state.withLock { state in
      if state.frame == nil || state.isFinished { return true }
      // Checked under the lock: a driver is removed from here after it becomes obsolete.
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

  /// Ends the stream. A frame that was not consumed yet is kept for the consumer or dropped.
  func finish(keepingFrame: Bool) {
    let (consumers, producers, dropped) = state.withLock { state in
      state.isFinished = true
      let dropped = keepingFrame ? nil : state.frame
      if !keepingFrame { state.frame = nil }
      defer { state.consumers = [] }
      return (state.consumers, state.takeProducers(), dropped)
    }
    for consumer in consumers { consumer.close(with: nil) }
    for producer in producers { PlaybackThread.shared.call(producer, after: .signal) }
    _ = consume dropped
  }
}
