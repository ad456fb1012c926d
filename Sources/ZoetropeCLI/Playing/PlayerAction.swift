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
  case saveFrame
  case repaint
  case suspend
  case quit
  /// Ctrl-C: quits, and the exit status says so.
  case interrupt
}
