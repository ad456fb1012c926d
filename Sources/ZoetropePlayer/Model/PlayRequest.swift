import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

/// A file to play, and how.
struct PlayRequest: Sendable {
  var file: PlayedFile
  /// The files to choose from; a single file has no list.
  var files = FileList(entries: [], current: 0)
  /// Whether a file follows that can be opened.
  var hasNextFile = false
  /// Whether the last frame stays until a key is pressed.
  var holds = true
  /// The first frame; nil for the first in the direction of playing.
  var startIndex: Int?
  var isPaused = false
}
