import Synchronization
import Zoetrope

/// A clock that runs some milliseconds ahead of the system's clock.
///
/// A scheduler on this clock delivers each frame early, which leaves time to encode the frame before it is due. The
/// clock starts without a lead, because the first frame is due immediately.
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

  /// Makes the clock run 15 ms ahead from now on.
  func runAhead() { ahead.nanoseconds.store(15_000_000, ordering: .relaxed) }
}
