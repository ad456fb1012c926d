import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

/// An event that the player responds to.
enum PlayerEvent: Sendable {
  /// A file is being opened. Most keys are kept until it is open.
  case opening(name: String, hasNextFile: Bool)
  /// The file is open, and will be played or reported.
  case opened
  /// A file will now be played, on a screen that was cleared for it.
  case play(PlayRequest)

  /// A key, the mouse, or an answer of the terminal.
  case input(InputEvent)
  /// Frames of a stream have arrived, or more of its bytes.
  case arrived([FrameControl], playCount: PlayCount, StreamProgress)
  /// The scheduler delivered a frame, some milliseconds early; `direction` is the scheduler's current direction.
  case frame(ScheduledFrame, due: ContinuousClock.Instant, direction: PlaybackDirection)
  /// The scheduler has ended.
  case ended(PlaybackState)

  /// The link has room for a picture, and no input waits.
  case room
  /// The answer to ``PlayerEffect/encode(_:)``; nil when encoding was given up.
  case encoded([UInt8]?)
  /// The answer to ``PlayerEffect/redraw(_:clears:)``; not whole when encoding was given up.
  case redrawn([UInt8], isWhole: Bool)
  /// The next frame is due, on a screen of the size that it was encoded for.
  case due
  /// All pending output has been written.
  case written

  /// Time has passed; `isIdle` when nothing waits to be written.
  case time(isIdle: Bool)
  /// The status line has to be updated.
  case refresh
  /// A message for the status line, until a key is pressed or for a time.
  case message(String, for: Duration?)

  /// The screen has another size.
  case resized(ScreenSize)
  /// The contents of the screen are unknown.
  case repaint
  /// The system asks the process to stop, as Ctrl-Z does.
  case stopping
  /// A signal or the loss of the terminal ends playing.
  case ending(ExitStatus)
}
