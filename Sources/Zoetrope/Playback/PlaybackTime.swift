/// Time as a playback counts it: since some moment of a clock.
///
/// Hides the clock's type: generic code looks types up while it runs, which cost as much for each
/// frame as all the deciding.
protocol PlaybackTime: Sendable {
  /// The time that has passed.
  var now: Duration { get }
  /// Returns when that much has passed, or at once when the task is cancelled.
  func sleep(until moment: Duration) async
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

  func sleep(until moment: Duration) async {
    // Woken early only by cancelling, and then nothing is reported any more.
    try? await clock.sleep(until: origin.advanced(by: moment), tolerance: .zero)
  }
}

/// The system's clock, which the thread that drives playbacks waits for itself.
struct SystemTime: PlaybackTime {
  private let origin = ContinuousClock.now

  var now: Duration { origin.duration(to: .now) }

  func sleep(until moment: Duration) async {
    await PlaybackThread.shared.sleep(until: origin.advanced(by: moment))
  }
}
