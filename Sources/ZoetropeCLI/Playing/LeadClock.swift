import Synchronization
import Zoetrope

/// The system's clock, some milliseconds ahead of itself.
///
/// A scheduler on this clock hands each frame over before it is due, which leaves time to encode it
/// and to write the finished bytes at the very moment. It runs ahead only once it is told to: the
/// first frame is wanted at once.
struct LeadClock: SystemClockAhead {
  typealias Instant = ContinuousClock.Instant

  private final class Ahead: Sendable {
    let nanoseconds = Atomic<Int64>(0)
  }

  private let ahead = Ahead()

  var lead: Duration { .nanoseconds(ahead.nanoseconds.load(ordering: .relaxed)) }

  var now: Instant { ContinuousClock.now.advanced(by: lead) }
  var minimumResolution: Duration { ContinuousClock().minimumResolution }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try await ContinuousClock().sleep(
      until: deadline.advanced(by: .zero - lead), tolerance: tolerance)
  }

  /// Runs ahead by `milliseconds` from now on.
  func run(ahead milliseconds: Int64) {
    ahead.nanoseconds.store(milliseconds * 1_000_000, ordering: .relaxed)
  }
}
