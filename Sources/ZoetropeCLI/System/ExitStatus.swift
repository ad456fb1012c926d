/// What the process tells its parent. The numbers are part of the command-line contract.
enum ExitStatus: Int32, Error, Sendable {
  /// Everything was done.
  case success = 0
  /// Some inputs or frames failed; the rest was written.
  case partial = 1
  /// The arguments make no sense.
  case usage = 2
  /// Nothing could be decoded.
  case undecodable = 3
  /// Output could not be written.
  case cannotWrite = 4
  /// A limit refused the input.
  case limit = 5
  /// The input is damaged and `--damage strict` or `--strict` was asked for.
  case damaged = 6
  /// The terminal cannot be used.
  case terminal = 7
  /// Ended by SIGHUP, or by the terminal going away.
  case hungUp = 129
  /// Interrupted by SIGINT.
  case interrupted = 130
  /// Ended by SIGQUIT.
  case quit = 131
  /// Ended by SIGTERM.
  case terminated = 143

  /// The status for several inputs: the one that all share, else ``partial``.
  static func combined(_ statuses: [ExitStatus]) -> ExitStatus {
    guard let first = statuses.first else { return .success }
    return statuses.allSatisfy { $0 == first } ? first : .partial
  }
}
