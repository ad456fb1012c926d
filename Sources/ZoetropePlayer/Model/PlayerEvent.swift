import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

/// An event to which the player responds.
enum PlayerEvent: Sendable {
  /// A file is being opened. Most keys are kept until the file is open.
  case opening(name: String, hasNextFile: Bool)
  /// Opening the file has ended. The file will be played or, if opening failed, reported.
  case opened
  /// A file starts to play, on a screen that was cleared for it.
  case play(PlayRequest)

  /// The user pressed a key or used the mouse, or the terminal answered a query.
  case input(InputEvent)
  /// Frames of a stream, or only more of its bytes, have arrived.
  case arrived([FrameControl], playCount: PlayCount, StreamProgress)
  /// The scheduler delivered a frame some milliseconds before the frame is due. `direction` is the scheduler's current
  /// direction.
  case frame(ScheduledFrame, due: ContinuousClock.Instant, direction: PlaybackDirection)
  /// The scheduler has ended.
  case ended(PlaybackState)

  /// The link to the terminal has room for a picture, and no input is waiting.
  case room
  /// The frame of ``PlayerEffect/encode(_:)`` was encoded. The bytes are nil if encoding was cancelled.
  case encoded([UInt8]?)
  /// The picture of ``PlayerEffect/redraw(_:clears:)`` was encoded. `isWhole` is false if encoding was cancelled.
  case redrawn([UInt8], isWhole: Bool)
  /// The next frame is due, and the screen has the size for which the frame was encoded.
  case due
  /// All pending output has been written.
  case written

  /// Time has passed. `isIdle` is true if no output is pending.
  case time(isIdle: Bool)
  /// The status line must be updated.
  case refresh
  /// There is a message for the status line. It is shown for the given time, or until a key is pressed if the time is
  /// nil.
  case message(String, for: Duration?)

  /// The size of the screen has changed.
  case resized(ScreenSize)
  /// The terminal was set up again after another program used it. Its screen, which has the given size, is drawn anew.
  case returned(ScreenSize)
  /// The system asks the process to stop, as when the user presses Ctrl-Z.
  case stopping
  /// A signal, or the loss of the terminal, ends playback.
  case ending(ExitStatus)
}
