/// How the playing of one file ended.
enum PlayerOutcome: Sendable {
  /// It came to its end, or the next file was asked for.
  case next
  case previous
  case quit
  /// A signal, a key or the terminal ended everything.
  case ended(ExitStatus)
  case failed(CommandFailure)
}
