import Synchronization
import Zoetrope

/// Hands what a scheduler publishes to the thread that draws.
final class FrameInbox: Sendable {
  enum Item: Sendable {
    /// A frame, and when it is to be seen.
    case frame(ScheduledFrame, due: ContinuousClock.Instant)
    /// Nothing more comes.
    case ended(PlaybackState)

    /// When the frame is to be seen; nil for the end.
    var due: ContinuousClock.Instant? {
      if case .frame(_, let due) = self { due } else { nil }
    }
  }

  private struct Contents {
    var items: [Item] = []
    var isClosed = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let contents = Mutex(Contents())

  /// Adds an item and wakes the drawing thread.
  func put(_ item: Item) {
    contents.withLock { $0.items.append(item) }
    WakePipe.wake()
  }

  /// The oldest item, without taking it.
  var first: Item? { contents.withLock { $0.items.first } }

  /// Takes the oldest item.
  func take() -> Item? {
    let (item, waiter) = contents.withLock { contents in
      let item = contents.items.isEmpty ? nil : contents.items.removeFirst()
      return (item, contents.items.isEmpty ? contents.waiter.take() : nil)
    }
    waiter?.resume()
    return item
  }

  /// Waits until everything has been taken, or it is closed: a scheduler whose frames must all be
  /// shown is to know that showing them takes time.
  func emptied() async {
    await withCheckedContinuation { continuation in
      let isDone = contents.withLock { contents in
        if contents.items.isEmpty || contents.isClosed { return true }
        contents.waiter = continuation
        return false
      }
      if isDone { continuation.resume() }
    }
  }

  /// Says that nothing more will be taken.
  func close() {
    let waiter = contents.withLock { contents in
      contents.isClosed = true
      return contents.waiter.take()
    }
    waiter?.resume()
  }
}
