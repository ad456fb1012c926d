/// What a session decides under its lock and carries out once the lock is free.
///
/// Under that lock nobody is resumed, no code of the user's runs (a log handler, a clock) and no
/// ticket is let go of. Each of these may take a lock whose owner waits for the session's:
/// `Task.cancel()` holds one of the task's while it calls handlers.
struct PlaybackAftermath: Sendable {
  /// Drivers that are no longer in charge.
  var obsoleteDriver: PlaybackDriver?
  /// Steps passed over, and the frame that is shown instead.
  var skip: (count: Int, frame: Int)?
  /// The frame handed over, for the consumer that waited for it.
  var delivery: FrameMailbox.Delivery?
  /// The ticket of that frame.
  var shown: FrameTicket?
  /// Other tickets that nobody here wants any more.
  var dropped: [FrameTicket] = []
  /// Set once in a session's life: how it ended.
  var ending: (reason: PlaybackState, statistics: PlaybackStatistics)?
}
