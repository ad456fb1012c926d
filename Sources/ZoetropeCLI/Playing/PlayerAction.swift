/// What a key asks the player to do.
enum PlayerAction: Sendable, Hashable {
  case togglePause
  /// So many frames on, or back.
  case step(Int)
  case seek(by: Duration)
  case seekToFrame(Int)
  case seekToEnd
  /// Speed times a factor.
  case scaleSpeed(Double)
  case resetSpeed
  case reverse
  case bounce
  case cycleLoops
  case cycleFit
  case cycleBackdrop
  case cycleMode
  /// Zoom times a factor; 0 goes back to none.
  case zoom(Double)
  case toggleInfo
  case toggleHelp
  case nextFile
  case previousFile
  /// The first time the start of a section that is repeated, then its end, then all again.
  case markSection
  /// A line round what each frame changes.
  case toggleOutline
  /// The pixels each frame stores instead of the canvas.
  case toggleStored
  /// The animation stands still on its first frame, or moves again.
  case toggleMotion
  /// The delays of the frames as bars.
  case toggleTimeline
  case saveFrame
  /// The frames of the section, or all.
  case saveSection
  case repaint
  case suspend
  case quit
  /// Ctrl-C: quits, and the exit status says so.
  case interrupt
  /// Ctrl-\: quits, and the exit status says so as after SIGQUIT, without a core file.
  case abort
}
