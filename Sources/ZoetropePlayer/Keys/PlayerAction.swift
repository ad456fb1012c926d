/// What the player does in response to a key.
enum PlayerAction: Sendable, Hashable {
  case togglePause
  /// A number of frames forward, or back.
  case step(Int)
  case seek(by: Duration)
  case seekToFrame(Int)
  case seekToEnd
  /// Multiplies the speed.
  case scaleSpeed(Double)
  case resetSpeed
  case reverse
  case bounce
  case cycleLoops
  case cycleFit
  case cycleBackdrop
  case cycleMode
  /// Multiplies the zoom; 0 resets it and the visible part.
  case zoom(Double)
  /// Multiplies the zoom around a cell, whose content stays in place.
  case zoomAt(Double, column: Int, row: Int)
  /// Moves the visible part by fractions of its size.
  case pan(x: Double, y: Double)
  /// Moves the picture with the mouse, by cells.
  case drag(columns: Int, rows: Int)
  /// Seeks to a fraction of the animation's duration.
  case seekToPart(Double)
  case toggleInfo
  case toggleHelp
  /// Shows the list of files.
  case showList
  case nextFile
  case previousFile
  /// Sets the start of a repeated section, then its end, then removes it.
  case markSection
  /// Outlines what each frame changes.
  case toggleOutline
  /// Shows the stored pixels of each frame instead of the canvas.
  case toggleStored
  /// Stops on the first frame, or plays again.
  case toggleMotion
  /// Shows the delays of the frames as bars.
  case toggleTimeline
  case saveFrame
  /// Saves the frames of the section, or all frames.
  case saveSection
  case repaint
  case suspend
  case quit
  /// Ctrl-C: quits with status 130.
  case interrupt
  /// Ctrl-\: quits with status 131, without a core file.
  case abort
}
