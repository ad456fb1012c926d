internal import Glibc
package import SystemPackage
internal import Zoetrope

/// The reason why writing an output failed or stopped.
package enum WriteFailure: Error, Hashable, Sendable {
  /// The reader has closed its end of the pipe. Commands that write reports or frames one after another end quietly,
  /// because the reader may have all that it needs (see ``Delivery``).
  case closedPipe
  /// A signal stopped the command, which ends with this status.
  case stopped(ExitStatus)
  /// The output with this name exists and may not be replaced.
  case exists(String)
  /// A system call failed with this error, on the output with this name.
  case system(Errno, String)
  /// A frame could not be encoded, for this reason.
  case encoding(String)

  /// This failure, in the form in which commands report it. ``closedPipe`` is included for commands that treat it as a
  /// failure, because a part of their output is of no use.
  package var commandFailure: CommandFailure {
    switch self {
    case .closedPipe:
      CommandFailure(
        .cannotWrite, code: "closedPipe", "the program that reads the output has closed it")
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
