internal import Synchronization

/// Playback time, counted from its creation, on the system's clock or on any other.
///
/// Erases the clock's type: the metadata lookups of generic code cost as much per frame as all scheduling
/// decisions.
struct PlaybackTime: Sendable {
  private let start = ContinuousClock.now
  /// How far time is ahead of the system's clock; nil for no lead.
  private let systemClock: (any SystemClockAhead)?
  /// Another clock's time and the waiting on it; nil for the system's, on which the playback thread itself
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
          // Throws only if cancelled, and then the driver returns immediately.
          try? await clock.sleep(until: deadline, tolerance: .zero)
          driver.goOn(after: .deadline)
        })
    }
  }

  private var lead: Duration { systemClock?.lead ?? .zero }

  /// The time passed so far.
  var now: Duration { otherClock?.now() ?? start.duration(to: .now) + lead }

  /// Calls `driver` at `moment`.
  func call(_ driver: PlaybackDriver, at moment: Duration) {
    guard let otherClock else {
      return PlaybackThread.shared.call(driver, at: start.advanced(by: moment - lead))
    }
    otherClock.call(driver, moment)
  }
}

/// A clock that runs a fixed time ahead of the system's, so that a scheduler can wait on the system's.
package protocol SystemClockAhead: Clock, Sendable where Duration == Swift.Duration {
  /// How far it is ahead now. A playback that already waits does not notice a change.
  var lead: Swift.Duration { get }
}
