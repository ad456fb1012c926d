import Synchronization
import Zoetrope
import ZoetropeProcess

/// Passes frames from a scheduler to the drawing thread.
final class FrameInbox: Sendable {
  enum Item: Sendable {
    /// A frame, and the time at which it is due.
    case frame(ScheduledFrame, due: ContinuousClock.Instant)
    /// The scheduler has ended.
    case ended(PlaybackState)

    /// The time at which the frame is due, or nil if the item is not a frame.
    var due: ContinuousClock.Instant? {
      if case .frame(_, let due) = self { due } else { nil }
    }
  }

  private struct Contents {
    var items: [Item] = []
    var isClosed = false
    /// A task that waits for fewer items than `limit`.
    var waiter: (continuation: CheckedContinuation<Void, Never>, limit: Int)?
  }

  /// The number of items at which the next frame is no longer requested. Frames arrive a few milliseconds early, so a
  /// drawing thread that keeps up leaves fewer; one that saves a picture must not fill the memory with canvases.
  static let limit = 8

  private let contents = Mutex(Contents())

  /// Starts a task that adds the frames of `scheduler` to the inbox and, after the last frame, an item for the end.
  ///
  /// - Parameters:
  ///   - clock: The clock of the scheduler. It starts to run ahead at the first frame.
  ///   - waits: Whether the next frame is requested only after all items in the inbox have been taken, so that the
  ///     scheduler notices the delay. Otherwise it is requested while there are fewer than ``limit`` items.
  ///   - shifts: Whether a late frame shifts the schedule. Such a frame is due when it is delivered.
  func take(from scheduler: FrameScheduler, _ clock: LeadClock, waits: Bool, shifts: Bool) {
    Task {
      await take(scheduler.play().stream, waits: waits, shifts: shifts) { clock.runAhead() }
      put(.ended(scheduler.state))
    }
  }

  /// Adds every frame of `frames`; see ``take(from:_:waits:shifts:)``.
  ///
  /// - Parameter begin: Called at the first frame.
  func take(
    _ frames: AsyncStream<ScheduledFrame>, waits: Bool, shifts: Bool, begin: () -> Void
  ) async {
    var anchor: ContinuousClock.Instant?
    for await frame in frames {
      let start = anchor ?? .now.advanced(by: .zero - frame.presentationTime)
      if anchor == nil {
        anchor = start
        begin()
      }
      let time = frame.presentationTime + (shifts ? frame.lateness : .zero)
      put(.frame(frame, due: start.advanced(by: time)))
      await waitForRoom(below: waits ? 1 : Self.limit)
    }
  }

  /// Adds an item and wakes the drawing thread.
  private func put(_ item: Item) {
    contents.withLock { $0.items.append(item) }
    WakePipe.wake()
  }

  /// The oldest item, which stays in the inbox, or nil if the inbox is empty.
  var first: Item? { contents.withLock { $0.items.first } }

  /// Removes and returns the oldest item, or returns nil if the inbox is empty.
  func take() -> Item? {
    let (item, waiter) = contents.withLock { contents in
      let item = contents.items.isEmpty ? nil : contents.items.removeFirst()
      let hasRoom = contents.waiter.map { contents.items.count < $0.limit } ?? false
      return (item, hasRoom ? contents.waiter.take() : nil)
    }
    waiter?.continuation.resume()
    return item
  }

  /// Waits until there are fewer than `limit` items, or the inbox is closed.
  private func waitForRoom(below limit: Int) async {
    await withCheckedContinuation { continuation in
      let isDone = contents.withLock { contents in
        if contents.items.count < limit || contents.isClosed { return true }
        contents.waiter = (continuation, limit)
        return false
      }
      if isDone { continuation.resume() }
    }
  }

  /// Closes the inbox, so that nobody waits any longer for its items to be taken.
  func close() {
    let waiter = contents.withLock { contents in
      contents.isClosed = true
      return contents.waiter.take()
    }
    waiter?.continuation.resume()
  }
}
