import SystemPackage

/// Why output stopped.
enum WriteFailure: Error, Hashable, Sendable {
  /// The reader of a pipe has gone: a quiet end, not an error.
  case closedPipe
  /// A signal asked for the end.
  case stopped(ExitStatus)
  /// The output exists, and nobody said that it may be replaced.
  case exists(String)
  /// The system refused; the text is the output's name.
  case system(Errno, String)
  /// A frame could not be encoded.
  case encoding(String)

  /// The failure as a command reports it; nil for the quiet end.
  var commandFailure: CommandFailure? {
    switch self {
    case .closedPipe: nil
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
  /// For people, as a command tells it.
  var description: String { commandFailure?.message ?? "the reader has gone" }
}
