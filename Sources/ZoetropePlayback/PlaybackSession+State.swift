// What a session keeps under its lock, and what it does once the lock is released.
extension PlaybackSession {
  struct Holding {
    let frame: Int
    let ticket: FrameTicket
    /// Whether this session still has to count the decoding of the frame in its statistics. Only the session that was
    /// the first to request a frame counts its decoding.
    var isOwn: Bool
  }

  struct State {
    var machine: PlaybackStateMachine
    var hasStarted = false
    /// The time of the session's clock at which playback started. The machine's times are relative to this time.
    var origin = Duration.zero
    var firstDeadline: Duration?
    /// The number of the current driver; -1 after the session was closed. Reports from other drivers are ignored.
    var epoch = 0
    weak var driver: PlaybackDriver?
    /// The latest time passed to the machine. The machine needs times in order, but two threads may report theirs out
    /// of order.
    var latest = Duration.zero
    /// The tickets of the next frame and of the frames after it, in playback order.
    var holdings: [Holding] = []
    /// Whether the playback order may have changed since the tickets in ``holdings`` were requested.
    var isReordered = false
    var lastIndex: Int?
    var seekCount = 0
    var readyAt = Duration.zero
    var statistics = PlaybackStatistics()
    var trace = PlaybackTrace()
    /// Whether the end of playback was logged and announced.
    var isAnnounced = false
    var endWaiters: [ResultHandover<PlaybackState>] = []

    /// Converts `moment`, a time of the session's clock, to the machine's time, which never goes back.
    mutating func time(of moment: Duration) -> Duration {
      latest = max(latest, moment - origin)
      return latest
    }

    /// The statistics, including the stalls, which the machine counts.
    var currentStatistics: PlaybackStatistics {
      var statistics = statistics
      statistics.stalls = machine.stalls
      statistics.stallTime = machine.stallTime
      return statistics
    }

    /// Returns the element of ``holdings`` for frame `index`, if there is one.
    func holding(_ index: Int) -> Holding? { holdings.first { $0.frame == index } }

    /// Replaces the holdings, and returns the tickets of frames that are no longer held.
    mutating func hold(_ new: [Holding]) -> [FrameTicket] {
      defer { holdings = new }
      return holdings.filter { old in !new.contains { $0.frame == old.frame } }.map(\.ticket)
    }
  }

  /// Decisions made under the session's lock, to be performed after unlocking.
  ///
  /// No continuation is resumed, no user code (a log handler or a clock) runs and no ticket is released under the
  /// session's lock, because each of these may take another lock, whose holder may be waiting for the session's lock.
  /// `Task.cancel()`, for example, holds a lock while it calls cancellation handlers.
  struct Aftermath: Sendable {
    /// The driver of a session that was closed.
    var obsoleteDriver: PlaybackDriver?
    /// The number of steps skipped, and the frame shown instead of them.
    var skip: (count: Int, frame: Int)?
    /// The delivery of the presented frame, which wakes the consumer if it is waiting.
    var delivery: FrameMailbox.Delivery?
    /// The ticket of the presented frame.
    var shown: FrameTicket?
    /// Tickets of other frames that are no longer needed.
    var dropped: [FrameTicket] = []
    /// The reason why playback ended, and the final statistics. Set only once per session.
    var ending: (reason: PlaybackState, statistics: PlaybackStatistics)?
  }
}
