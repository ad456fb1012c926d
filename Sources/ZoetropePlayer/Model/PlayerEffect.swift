import Zoetrope
import ZoetropeTerminal

/// What the player does in response to a ``PlayerEvent``.
enum PlayerEffect: Sendable {
  /// Starts a scheduler with these options, in place of the previous one.
  case start(PlaybackOptions, isPaused: Bool)
  case pause
  case resume
  /// Seeks to a frame; a scheduler that has ended is replaced by a new one with the options `restart`.
  case seek(to: Int, isPaused: Bool, restart: PlaybackOptions)
  case setRate(Double)
  case setDirection(PlaybackDirection)

  /// Encodes the next frame, and answers with ``PlayerEvent/encoded(_:)``.
  case encode(Picture)
  /// Removes what is drawn, and with `clears` the screen's text; encodes the picture anew, and answers with
  /// ``PlayerEvent/redrawn(_:isWhole:)``.
  case redraw(Picture?, clears: Bool)
  /// Answers with ``PlayerEvent/room`` if there is room now.
  case offerRoom
  /// Writes a screen of text; the first one removes the picture.
  case cover([UInt8], clears: Bool)
  /// Writes bytes after everything that is pending.
  case write([UInt8])
  /// Writes the bytes of a picture, followed by a query that the terminal answers once it has read this far.
  case writePicture([UInt8])
  /// Answers with ``PlayerEvent/refresh``, after the effects before this one.
  case refresh
  /// Discards output that the terminal has not read, because it was made for another screen size.
  case dropOutput
  /// Releases the terminal, stops the process until it is continued, and takes the terminal again.
  case suspend

  /// Saves a frame, never over another file, and answers with a message.
  case save(Bitmap, index: Int)
  /// Saves frames while playing continues; answers with a message, and another one at the end.
  case saveAll(Range<Int>)
}
