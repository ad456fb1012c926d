import Zoetrope
import ZoetropeTerminal

/// An operation that the player performs in response to a ``PlayerEvent``.
enum PlayerEffect: Sendable {
  /// Starts a scheduler with these options and stops the previous scheduler.
  case start(PlaybackOptions, isPaused: Bool)
  case pause
  case resume
  /// Seeks to a frame. If the scheduler has ended, starts a new scheduler with the options `restart` instead.
  case seek(to: Int, isPaused: Bool, restart: PlaybackOptions)
  case setRate(Double)
  case setDirection(PlaybackDirection)

  /// Encodes the next frame, and reports the result with ``PlayerEvent/encoded(_:)``.
  case encode(Picture)
  /// Removes the drawn picture, encodes the given picture (if any) with a new encoder, and reports the result with
  /// ``PlayerEvent/redrawn(_:isWhole:)``. If `clears` is true, also clears the text on the screen.
  case redraw(Picture?, clears: Bool)
  /// Sends ``PlayerEvent/room`` if there is room for a picture now.
  case offerRoom
  /// Writes a screen of text. If `clears` is true, first removes the picture.
  case cover([UInt8], clears: Bool)
  /// Writes bytes after all pending output.
  case write([UInt8])
  /// Writes the bytes of a picture, followed by a query if the terminal answers queries. The terminal answers once it
  /// has read the picture.
  case writePicture([UInt8])
  /// Sends ``PlayerEvent/refresh``, after the effects before this one were performed.
  case refresh
  /// Discards output that the terminal has not read yet, because the output was made for another screen size.
  case dropOutput
  /// Releases the terminal, stops the process until it is continued, and takes over the terminal again.
  case suspend

  /// Saves a frame as a new file, and reports the result with a message.
  case save(Bitmap, index: Int)
  /// Saves frames while playback continues. A message appears now, and another one when saving has ended.
  case saveAll(Range<Int>)
}
