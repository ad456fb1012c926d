internal import Glibc
package import SystemPackage
internal import Zoetrope

/// An output that is written in order: standard output, a pipe, a device or an open descriptor.
///
/// The output is opened and written to, never replaced. `cp` and `ffmpeg` do the same.
package struct OutputStream: Hashable, Sendable {
  package let descriptor: FileDescriptor
  /// The output's name in errors.
  package let name: String
  /// Whether ``close()`` closes the descriptor.
  private let isOwned: Bool

  package static let standardOutput = OutputStream(
    descriptor: .standardOutput, name: "standard output", isOwned: false)

  private init(descriptor: FileDescriptor, name: String, isOwned: Bool) {
    (self.descriptor, self.name, self.isOwned) = (descriptor, name, isOwned)
  }

  /// Creates a stream that writes to `descriptor`, which the caller closes.
  init(borrowing descriptor: FileDescriptor, name: String) {
    self.init(descriptor: descriptor, name: name, isOwned: false)
  }

  /// Opens the pipe, device or descriptor at `path`. Opening a pipe waits until another process opens it for reading or
  /// a signal arrives.
  package init(_ path: FilePath) throws(WriteFailure) {
    if let number = Self.descriptor(named: path) {
      // Reopening the path would write a file from its beginning, and would fail for a socket.
      self.init(
        descriptor: FileDescriptor(rawValue: number), name: "\(path)", isOwned: false)
      return
    }
    self.init(descriptor: try Self.open(path), name: "\(path)", isOwned: true)
  }

  private static func open(_ path: FilePath) throws(WriteFailure) -> FileDescriptor {
    // Opening a terminal for writing must not make it the controlling terminal.
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

  /// Closes the descriptor if ``init(_:)`` opened it.
  package func close() { if isOwned { try? descriptor.close() } }

  /// Writes all of `bytes`; see ``FileDescriptor/writeFully(_:name:stopsOnSignal:)``.
  package func write(_ bytes: [UInt8], stopsOnSignal: Bool = true) throws(WriteFailure) {
    try descriptor.writeFully(bytes, name: name, stopsOnSignal: stopsOnSignal)
  }

  /// Writes `bytes` to standard output.
  ///
  /// - Parameter stopsOnSignal: Whether a signal stops the writing. False for reports that are written because of a
  ///   signal.
  @discardableResult
  package static func print(
    _ bytes: [UInt8], stopsOnSignal: Bool = true
  ) throws(CommandFailure) -> Delivery {
    try Delivery.of { () throws(WriteFailure) in
      try standardOutput.write(bytes, stopsOnSignal: stopsOnSignal)
    }
  }

  /// Throws if standard output is a terminal, which would show binary data as garbage.
  package static func checkTakesBinary() throws(CommandFailure) {
    guard isatty(STDOUT_FILENO) == 1 else { return }
    throw .usage("standard output is a terminal; redirect it, or write to a file with -o FILE")
  }

  /// Returns whether `path` can be written only in order, because it exists and is neither a regular file nor a
  /// directory.
  package static func isNeeded(for path: FilePath) -> Bool {
    if descriptor(named: path) != nil { return true }
    guard let status = FileStatus(at: path) else { return false }
    return !status.isRegular && !status.isDirectory
  }

  /// Returns whether `path` is another name of standard output, such as `/dev/stdout`.
  package static func isStandardOutput(_ path: FilePath) -> Bool {
    descriptor(named: path) == STDOUT_FILENO
  }

  /// Returns `-` if `name` is another name of standard output, otherwise `name`.
  package static func canonicalName(_ name: String) -> String {
    isStandardOutput(FilePath(bytes: RawArguments.bytes(of: name))) ? "-" : name
  }

  /// Returns the descriptor that `path` refers to, or nil if `path` is not the name of an open descriptor. Shells
  /// replace `>(command)` with such a name.
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
  /// Writes all of `bytes`, and continues after short writes and interruptions. Waits for room if the stream is full,
  /// even if it is non-blocking because another process that shares it made it so.
  ///
  /// - Parameters:
  ///   - name: The output's name in errors.
  ///   - stopsOnSignal: Whether a signal stops the writing. False for reports that are written because of a signal;
  ///     even then, a second signal ends the process.
  package func writeFully(
    _ bytes: [UInt8], name: String, stopsOnSignal: Bool = true
  ) throws(WriteFailure) {
    do throws(Errno) {
      try writeAll(bytes) { stopsOnSignal && Signals.ending != nil }
    } catch {
      if error == .canceled, let status = Signals.ending { throw .stopped(status) }
      throw error == .brokenPipe ? .closedPipe : .system(error, name)
    }
  }

  /// Writes `text`, which is meant for people, to standard error. Ignores errors.
  package static func note(_ text: String) {
    try? FileDescriptor.standardError.writeFully(
      Array(text.utf8), name: "standard error", stopsOnSignal: false)
  }
}

/// Whether reports or frames reached their reader. If the reader closes its end of a pipe, the command ends quietly,
/// because that is not a failure: the reader may need only the first of them.
package enum Delivery: Sendable {
  case complete
  case readerGone

  /// Runs `body`, which writes output, and returns whether the output reached its reader.
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
