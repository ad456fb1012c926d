internal import Synchronization

/// The time of a playback, counted from the creation of this value, on the system's clock or any other clock.
///
/// The type of the clock is erased, because the metadata lookups of generic code would cost as much per frame as all
/// scheduling decisions together.
struct PlaybackTime: Sendable {
  private let start = ContinuousClock.now
  /// The clock whose lead over the system's clock is added to the time; nil for clocks without a lead.
  private let systemClock: (any SystemClockAhead)?
  /// The time of a clock other than the system's, and how to wait for it. The value is nil if the playback thread
  /// itself waits, on the system's clock.
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
          // The sleep throws only if it is cancelled, in which case the driver returns immediately.
          try? await clock.sleep(until: deadline, tolerance: .zero)
          driver.goOn(after: .deadline)
        })
    }
  }

  private var lead: Duration { systemClock?.lead ?? .zero }

  /// The time elapsed since this value was created.
  var now: Duration { otherClock?.now() ?? start.duration(to: .now) + lead }

  /// Calls `driver` at `moment`.
  func call(_ driver: PlaybackDriver, at moment: Duration) {
    guard let otherClock else {
      return PlaybackThread.shared.call(driver, at: start.advanced(by: moment - lead))
    }
    otherClock.call(driver, moment)
  }
}

/// A clock that goes as fast as the system's clock but is ahead of it by a known time, so that a playback can wait on
/// the system's clock instead.
package protocol SystemClockAhead: Clock, Sendable where Duration == Swift.Duration {
  /// How far this clock is ahead of real time now. Changing this lead has no effect on a playback that is already waiting.
  var lead: Swift.Duration { get }
}
