import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

/// A file to play, and the way in which it is played.
struct PlayRequest: Sendable {
  var file: PlayedFile
  /// The files from which the user can choose. A single file has no list.
  var files = FileList(entries: [], current: 0)
  /// Whether the list has a later file that may still turn out to be usable.
  var hasNextFile = false
  /// Whether the last frame stays on the screen until a key is pressed.
  var holds = true
  /// The index of the first frame to show, or nil to start with the first frame in the direction of playback.
  var startIndex: Int?
  var isPaused = false
}
