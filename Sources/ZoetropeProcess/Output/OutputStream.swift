internal import Glibc
package import SystemPackage
internal import Zoetrope

/// An output that takes bytes in order: standard output, a pipe, a device, an open descriptor.
///
/// It is never replaced by a file but opened and written to, as `cp` and `ffmpeg` do.
package struct OutputStream: Hashable, Sendable {
  package let descriptor: FileDescriptor
  /// What errors call it.
  package let name: String
  /// Whether ``close()`` closes it.
  private let isOwned: Bool

  package static let standardOutput = OutputStream(
    descriptor: .standardOutput, name: "standard output", isOwned: false)

  private init(descriptor: FileDescriptor, name: String, isOwned: Bool) {
    (self.descriptor, self.name, self.isOwned) = (descriptor, name, isOwned)
  }

  /// A stream to `descriptor`, which somebody else closes.
  init(borrowing descriptor: FileDescriptor, name: String) {
    self.init(descriptor: descriptor, name: name, isOwned: false)
  }

  /// Opens what `path` names. A pipe without a reader waits for one, unless a signal comes.
  package init(_ path: FilePath) throws(WriteFailure) {
    if let number = Self.descriptor(named: path) {
      // Not reopened: that would start a file at its beginning, and a socket cannot be opened.
      self.init(
        descriptor: FileDescriptor(rawValue: number), name: "\(path)", isOwned: false)
      return
    }
    self.init(descriptor: try Self.open(path), name: "\(path)", isOwned: true)
  }

  private static func open(_ path: FilePath) throws(WriteFailure) -> FileDescriptor {
    // Writing to a terminal must not make it the controlling one.
    let options: FileDescriptor.OpenOptions = [.closeOnExec, .init(rawValue: O_NOCTTY)]
    while true {
      do {
        return try FileDescriptor.open(path, .writeOnly, options: options, retryOnInterrupt: false)
      } catch Errno.interrupted {
        if let status = Signals.ending { throw .stopped(status) }
      } catch {
        throw .system(error as? Errno ?? .ioError, "\(path)")
      }
    }
  }

  /// Closes what ``init(_:)`` opened.
  package func close() { if isOwned { try? descriptor.close() } }

  /// Writes all of `bytes`; see ``FileDescriptor/writeFully(_:name:stopsOnSignal:)``.
  package func write(_ bytes: [UInt8], stopsOnSignal: Bool = true) throws(WriteFailure) {
    try descriptor.writeFully(bytes, name: name, stopsOnSignal: stopsOnSignal)
  }

  /// Writes `bytes` to standard output.
  ///
  /// - Parameter stopsOnSignal: Whether a signal ends it; false for what a signal makes the command
  ///   report.
  @discardableResult
  package static func print(
    _ bytes: [UInt8], stopsOnSignal: Bool = true
  ) throws(CommandFailure) -> Delivery {
    try Delivery.of { () throws(WriteFailure) in
      try standardOutput.write(bytes, stopsOnSignal: stopsOnSignal)
    }
  }

  /// Whether `path` can only be written in order: it exists and is neither a file nor a directory.
  package static func isNeeded(for path: FilePath) -> Bool {
    if descriptor(named: path) != nil { return true }
    guard let status = FileStatus(at: path) else { return false }
    return !status.isRegular && !status.isDirectory
  }

  /// The descriptor that `path` is another name of, as shells hand them out for `>(command)`.
  private static func descriptor(named path: FilePath) -> Int32? {
    switch path.string {
    case "/dev/stdout": return STDOUT_FILENO
    case "/dev/stderr": return STDERR_FILENO
    default: break
    }
    for prefix in ["/dev/fd/", "/proc/self/fd/"] where path.string.hasPrefix(prefix) {
      guard let number = Int32(path.string.dropFirst(prefix.count)), number >= 0 else { return nil }
      return fcntl(number, F_GETFD) == -1 ? nil : number
    }
    return nil
  }
}

extension FileDescriptor {
  /// Writes all of `bytes`, through short writes and interruptions.
  ///
  /// - Parameters:
  ///   - name: What errors call the output.
  ///   - stopsOnSignal: Whether a signal ends it; false for what a signal makes the command report,
  ///     which a second signal still ends, together with the process.
  package func writeFully(
    _ bytes: [UInt8], name: String, stopsOnSignal: Bool = true
  ) throws(WriteFailure) {
    var done = 0
    while done < bytes.count {
      if stopsOnSignal, let status = Signals.ending { throw .stopped(status) }
      do {
        done += try writeSome(bytes[done...])
      } catch Errno.interrupted {
        continue
      } catch Errno.brokenPipe {
        throw .closedPipe
      } catch {
        throw .system(error as? Errno ?? .ioError, name)
      }
    }
  }

  /// Writes text for people to standard error; what cannot be written there is lost.
  package static func note(_ text: String) {
    try? FileDescriptor.standardError.writeFully(
      Array(text.utf8), name: "standard error", stopsOnSignal: false)
  }
}

/// Whether output reached its reader, who may leave: that ends a command quietly and is no failure.
package enum Delivery: Sendable {
  case complete
  case readerGone

  /// Runs `body`, which writes.
  package static func of(
    _ body: () throws(WriteFailure) -> Void
  ) throws(CommandFailure) -> Delivery {
    do throws(WriteFailure) {
      try body()
      return .complete
    } catch {
      if error == .closedPipe { return .readerGone }
      throw error.commandFailure
    }
  }
}

/// Why output stopped.
package enum WriteFailure: Error, Hashable, Sendable {
  /// The reader of a pipe has gone: a quiet end, not an error.
  case closedPipe
  /// A signal asked for the end.
  case stopped(ExitStatus)
  /// The output exists and may not be replaced.
  case exists(String)
  /// The system refused; the text is the output's name.
  case system(Errno, String)
  /// A frame could not be encoded.
  case encoding(String)

  /// The failure as a command reports it, where a reader that leaves is not expected (see ``Delivery``).
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
  /// For people, as a command tells it.
  package var description: String { commandFailure.message }
}
