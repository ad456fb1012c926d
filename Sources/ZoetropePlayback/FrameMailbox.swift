internal import Synchronization

/// A buffer for one frame between a session and its consumer.
///
/// Continuations and clients are never called under the lock (see ``ResultHandover``).
final class FrameMailbox: Sendable {
  private struct State {
    var frame: ScheduledFrame?
    var isFinished = false
    var consumers: [ResultHandover<ScheduledFrame>] = []
    /// The drivers waiting for space. There is more than one only until a replaced driver has left.
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
    /// Whether the frame replaced a frame that was not consumed.
    let hasReplaced: Bool

    /// Wakes the consumer that is waiting for the frame. Call it once, with no lock held.
    ///
    /// If the consumer is cancelled before this call, the frame is lost, but then its session ends too.
    func finish() { consumer?.close(with: frame) }
  }

  /// Stores `frame`, or assigns it to the waiting consumer, which ``Delivery/finish()`` then wakes.
  ///
  /// The two steps let a session put frames in order under its own lock without waking a consumer under that lock. A
  /// frame that replaces another counts the replaced one as skipped and includes its dirty rectangle.
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

  /// The answer to a consumer's request for a frame.
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

  /// Returns whether the last frame was consumed or the stream has ended. If neither, `producer` is called once one of
  /// them happens.
  func hasSpace(orCall producer: any PlaybackThread.Client) -> Bool {
    state.withLock { state in
      if state.frame == nil || state.isFinished { return true }
      // Check under the lock: a driver is removed from this list only after it has become obsolete.
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

  /// Ends the stream. A frame that was not consumed yet is either kept for the consumer or dropped.
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
