/// An action that the player performs in response to a key or the mouse.
enum PlayerAction: Sendable, Hashable {
  case togglePause
  /// Moves forward by a number of frames, or back if the number is negative.
  case step(Int)
  case seek(by: Duration)
  case seekToFrame(Int)
  case seekToEnd
  /// Multiplies the playback speed by a factor.
  case scaleSpeed(Double)
  case resetSpeed
  case reverse
  case bounce
  case cycleLoops
  case cycleFit
  case cycleBackdrop
  case cycleMode
  /// Multiplies the zoom by a factor. The factor 0 resets the zoom and the visible part.
  case zoom(Double)
  /// Multiplies the zoom by a factor so that the part of the picture in the given cell stays in place.
  case zoomAt(Double, column: Int, row: Int)
  /// Moves the visible part by fractions of its width and height.
  case pan(x: Double, y: Double)
  /// Moves the picture with the mouse, by a number of cells.
  case drag(columns: Int, rows: Int)
  /// Seeks to a time, given as a fraction of the animation's duration.
  case seekToPart(Double)
  case toggleInfo
  case toggleHelp
  /// Shows the list of files.
  case showList
  case nextFile
  case previousFile
  /// Sets the start of the repeated section the first time, sets its end the second time, and removes the section the
  /// third time.
  case markSection
  /// Turns on or off the outline around the area that each frame changes.
  case toggleOutline
  /// Switches between the canvas and the stored pixels of each frame.
  case toggleStored
  /// Stops on the first frame, or plays again if motion is off.
  case toggleMotion
  /// Turns on or off the bars that show the delays of the frames.
  case toggleTimeline
  case saveFrame
  /// Saves the frames of the repeated section, or all frames if there is no section.
  case saveSection
  case repaint
  case suspend
  case quit
  /// Quits with exit status 130, as Ctrl-C does.
  case interrupt
  /// Quits with exit status 131, as Ctrl-\ does, but without a core file.
  case abort
}
