import ZoetropeProcess

/// The way in which the playback of one file ended.
enum PlayerOutcome: Sendable, Hashable {
  /// The file ended, so the next file follows.
  case next
  /// The user asked for the next file (1) or the previous file (-1).
  case skip(Int)
  /// The user chose a file from the list. Files are numbered from 0.
  case choose(Int)
  case quit
  /// A signal, a key or the loss of the terminal ended playback.
  case ended(ExitStatus)
  case failed(CommandFailure)
}
