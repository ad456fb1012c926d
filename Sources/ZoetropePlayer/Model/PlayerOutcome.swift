import ZoetropeProcess

/// How the playing of one file ended.
enum PlayerOutcome: Sendable, Hashable {
  /// The file ended.
  case next
  /// A key asked for the next file (1) or the previous one (-1).
  case skip(Int)
  /// A file was chosen from the list, by its number from 0.
  case choose(Int)
  case quit
  /// A signal, a key or the terminal ended playing.
  case ended(ExitStatus)
  case failed(CommandFailure)
}
