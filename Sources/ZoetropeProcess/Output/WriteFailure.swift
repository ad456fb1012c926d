internal import Glibc
package import SystemPackage
internal import Zoetrope

/// Why output stopped.
package enum WriteFailure: Error, Hashable, Sendable {
  /// The reader of a pipe has gone away: a quiet end, not an error.
  case closedPipe
  /// A signal stopped the process.
  case stopped(ExitStatus)
  /// The output exists and may not be replaced.
  case exists(String)
  /// A system call failed; the text is the output's name.
  case system(Errno, String)
  /// A frame could not be encoded.
  case encoding(String)

  /// The failure to report where the reader must not go away (see ``Delivery``).
  package var commandFailure: CommandFailure {
    switch self {
    case .closedPipe:
      CommandFailure(.cannotWrite, code: "closedPipe", "the reader has closed the output")
    case .stopped(let status): CommandFailure(status, code: "interrupted", "interrupted")
    case .exists(let name):
      CommandFailure(.cannotWrite, code: "exists", "\(name) exists; --force replaces it")
    case .system(let error, let name):
      CommandFailure(.cannotWrite, code: "cannotWrite", "\(name): \(error)")
    case .encoding(let detail): CommandFailure(.cannotWrite, code: "encoding", detail)
    }
  }
}

extension WriteFailure: CustomStringConvertible {
  /// The message for people.
  package var description: String { commandFailure.message }
}
