internal import Synchronization

/// Playback time, counted from the creation of this value, on the system's clock or any other.
///
/// The clock's type is erased, because the metadata lookups of generic code would cost as much per frame as all
/// scheduling decisions.
struct PlaybackTime: Sendable {
  private let start = ContinuousClock.now
  /// The clock whose lead over the system's clock is added; nil for no lead.
  private let systemClock: (any SystemClockAhead)?
  /// The time of another clock, and how to wait on it; nil for the system's clock, on which the playback thread itself
  /// waits.
  private let otherClock: OtherClock?

  private struct OtherClock: Sendable {
    let now: @Sendable () -> Duration
    let call: @Sendable (PlaybackDriver, Duration) -> Void
  }

  init(_ clock: some Clock<Duration>) {
    systemClock = clock as? any SystemClockAhead
    guard systemClock == nil, !(clock is ContinuousClock) else {
      otherClock = nil
      return
    }
    let origin = clock.now
    otherClock = OtherClock(now: { origin.duration(to: clock.now) }) { driver, moment in
      let deadline = origin.advanced(by: moment)
      driver.sleeps(
        in: Task(executorPreference: PlaybackThread.shared) {
          // Sleeping throws only if cancelled, and then the driver returns immediately.
          try? await clock.sleep(until: deadline, tolerance: .zero)
          driver.goOn(after: .deadline)
        })
    }
  }

  private var lead: Duration { systemClock?.lead ?? .zero }

  /// The time elapsed since creation.
  var now: Duration { otherClock?.now() ?? start.duration(to: .now) + lead }

  /// Calls `driver` at `moment`.
  func call(_ driver: PlaybackDriver, at moment: Duration) {
    guard let otherClock else {
      return PlaybackThread.shared.call(driver, at: start.advanced(by: moment - lead))
    }
    otherClock.call(driver, moment)
  }
}

/// A clock that runs a fixed time ahead of the system's clock, so that a scheduler can wait on the system's clock.
package protocol SystemClockAhead: Clock, Sendable where Duration == Swift.Duration {
  /// How far the clock is ahead now. A playback that is already waiting does not notice a change.
  var lead: Swift.Duration { get }
}
