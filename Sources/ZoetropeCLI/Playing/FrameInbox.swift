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

  private let items = Mutex<[Item]>([])

  /// Adds an item and wakes the drawing thread.
  func put(_ item: Item) {
    items.withLock { $0.append(item) }
    WakePipe.wake()
  }

  /// The oldest item, without taking it.
  var first: Item? { items.withLock { $0.first } }

  /// The item after the oldest.
  var second: Item? { items.withLock { $0.count > 1 ? $0[1] : nil } }

  /// Takes the oldest item.
  func take() -> Item? { items.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}
