internal import Synchronization

/// A buffer for one frame, between a session and its consumer.
///
/// Methods never resume a continuation or call a client while they hold the lock (see ``ResultHandover``).
final class FrameMailbox: Sendable {
  private struct State {
    var frame: ScheduledFrame?
    var isFinished = false
    var consumers: [ResultHandover<ScheduledFrame>] = []
    /// The drivers waiting for the buffered frame to be consumed. The list contains several drivers only while a
    /// replaced driver has not yet been removed.
    var producers: [any PlaybackThread.Client] = []

    mutating func takeProducers() -> [any PlaybackThread.Client] {
      defer { producers = [] }
      return producers
    }
  }

  private let state = Mutex(State())

  /// The result of ``FrameMailbox/put(_:)``. The method ``finish()`` completes the delivery.
  struct Delivery {
    fileprivate let frame: ScheduledFrame
    fileprivate let consumer: ResultHandover<ScheduledFrame>?
    /// Whether the frame replaced an earlier frame that was not consumed.
    let hasReplaced: Bool

    /// Wakes the consumer that is waiting for the frame, if there is one. Call this method once, with no lock held.
    ///
    /// If the consumer is cancelled before this call, the frame is lost. This does no harm, because the consumer's
    /// session ends as well.
    func finish() { consumer?.close(with: frame) }
  }

  /// Stores `frame`, or assigns it to a waiting consumer, which ``Delivery/finish()`` then wakes.
  ///
  /// Because assigning a frame and waking the consumer are separate steps, a session can put frames in order under its
  /// own lock and wake the consumer after unlocking. If `frame` replaces another frame, the replaced frame is counted
  /// as skipped, and its dirty rectangle is added to that of `frame`. If the stream has ended, `frame` is dropped.
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

  /// The response to a consumer's request for a frame.
  private enum Answer {
    case frame(ScheduledFrame, [any PlaybackThread.Client])
    case end
    case wait(ResultHandover<ScheduledFrame>)
  }

  /// Removes and returns the buffered frame, or waits for a frame if there is none. Returns nil if the stream has ended
  /// or the task is cancelled.
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

  /// Whether the mailbox holds no frame.
  var isEmpty: Bool { state.withLock { $0.frame == nil } }

  /// Returns true if the last frame was consumed or the stream has ended. Otherwise, returns false, and `producer` is
  /// called once, as soon as either happens.
  func hasSpace(orCall producer: any PlaybackThread.Client) -> Bool {
    state.withLock { state in
      if state.frame == nil || state.isFinished { return true }
      // `isObsolete` is read under the lock, because a driver is removed from this list only after the driver has
      // become obsolete.
      if !producer.isObsolete { state.producers.append(producer) }
      return false
    }
  }

  /// Removes `producer`, which has become obsolete, from the waiting drivers.
  func removeProducer(_ producer: any PlaybackThread.Client) {
    let removed = state.withLock { state in
      let removed = state.producers.filter { $0 === producer }
      if !removed.isEmpty { state.producers.removeAll { $0 === producer } }
      return removed
    }
    _ = consume removed
  }

  /// Ends the stream. A frame that was not consumed is kept for the consumer if `keepingFrame` is true, and dropped
  /// otherwise.
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
