/// The exit status of the tool. The numbers are part of the command-line contract.
package enum ExitStatus: Int32, Error, Sendable {
  /// Everything succeeded.
  case success = 0
  /// Some inputs or frames failed; the others were written.
  case partial = 1
  /// The arguments are wrong.
  case usage = 2
  /// Nothing could be decoded.
  case undecodable = 3
  /// Output could not be written.
  case cannotWrite = 4
  /// The input exceeds a limit, or there is not enough memory.
  case limit = 5
  /// The input is damaged, and `--damage strict` or `--strict` was given.
  case damaged = 6
  /// The terminal cannot be used.
  case terminal = 7
  /// No result meets `--max-bytes` or `--for`.
  case budget = 8
  /// The process was ended by SIGHUP, or because its terminal was closed.
  case hungUp = 129
  /// The process was interrupted by SIGINT.
  case interrupted = 130
  /// The process was ended by SIGQUIT.
  case quit = 131
  /// The process was ended by SIGTERM.
  case terminated = 143

  /// Returns the status of a command with several inputs: the status that all inputs have in common, or ``partial`` if
  /// their statuses differ.
  package static func combined(_ statuses: [ExitStatus]) -> ExitStatus {
    guard let first = statuses.first else { return .success }
    return statuses.allSatisfy { $0 == first } ? first : .partial
  }
}
