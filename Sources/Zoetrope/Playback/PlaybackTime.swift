/// Time as a playback counts it: since some moment of a clock.
///
/// Hides the clock's type: generic code looks types up while it runs, which cost as much for each
/// frame as all the deciding.
protocol PlaybackTime: Sendable {
  /// The time that has passed.
  var now: Duration { get }
  /// Calls `driver` when that much has passed.
  func call(_ driver: PlaybackDriver, at moment: Duration)
}

/// Any clock, from when this was made.
struct ClockTime<C: Clock>: PlaybackTime where C.Duration == Duration {
  private let clock: C
  private let origin: C.Instant

  init(_ clock: C) {
    self.clock = clock
    origin = clock.now
  }

  var now: Duration { origin.duration(to: clock.now) }

  func call(_ driver: PlaybackDriver, at moment: Duration) {
    let deadline = origin.advanced(by: moment)
    driver.sleeps(
      in: Task(executorPreference: PlaybackThread.shared) { [clock] in
        // Woken early only by cancelling, and then the driver leaves.
        try? await clock.sleep(until: deadline, tolerance: .zero)
        driver.goOn(after: .deadline)
      })
  }
}

/// The system's clock, which the thread that drives playbacks waits for itself.
struct SystemTime: PlaybackTime {
  private let origin = ContinuousClock.now
  private let clock: (any SystemClockAhead)?

  /// - Parameter clock: Says how far ahead of the system's clock time is; nil for not at all.
  init(_ clock: (any SystemClockAhead)? = nil) { self.clock = clock }

  private var lead: Duration { clock?.lead ?? .zero }

  var now: Duration { origin.duration(to: .now) + lead }

  func call(_ driver: PlaybackDriver, at moment: Duration) {
    PlaybackThread.shared.call(driver, at: origin.advanced(by: moment - lead))
  }
}

/// A clock that is the system's but ahead of it, so that a scheduler may wait by the system's.
package protocol SystemClockAhead: Clock, Sendable where Duration == Swift.Duration {
  /// How far it is ahead at present. Playback that waits already is not told of a change.
  var lead: Swift.Duration { get }
}
