internal import Glibc
package import SystemPackage
internal import Zoetrope

/// A file that is there whole or not at all.
///
/// The bytes go to a temporary name in the same directory and are renamed when they are complete: a
/// process that is killed leaves no partial file under a final name, only a temporary one, which
/// the next run that writes to the directory removes (see ``TemporaryFile``). A link that the user
/// named stays a link, and its target is written; a link in the way of a generated name is
/// replaced. Devices, pipes and descriptors are no files in this sense; bytes go straight to
/// ``OutputStream``.
package enum OutputFile {
  /// Writes `bytes` to `path`; replaces a file that is there only when `isReplacing`.
  ///
  /// - Parameters:
  ///   - followsLinks: Whether the target of a link is replaced instead of the link.
  ///   - stopsOnSignal: Whether a signal ends the writing; false for what a signal makes the command
  ///     report.
  package static func write(
    _ bytes: [UInt8], to path: FilePath, isReplacing: Bool, followsLinks: Bool = false,
    stopsOnSignal: Bool = true
  ) throws(WriteFailure) {
    if OutputStream.isNeeded(for: path) {
      let stream = try OutputStream(path)
      defer { stream.close() }
      return try stream.write(bytes, stopsOnSignal: stopsOnSignal)
    }
    let target = isReplacing && followsLinks ? followingLinks(path) : path
    let file = try TemporaryFile(in: directory(of: target), for: "\(target)")
    defer { file.release() }
    do throws(WriteFailure) {
      try file.write(bytes, stopsOnSignal: stopsOnSignal)
      try rename(file.path, to: target, isReplacing: isReplacing)
    } catch {
      FileSystem.remove(file.path)
      throw error
    }
  }

  /// Writes a report to what the user called `argument`, even after a signal; `-` is standard
  /// output.
  package static func write(
    report bytes: [UInt8], to argument: String, isReplacing: Bool
  ) throws(WriteFailure) {
    if argument == "-" {
      return try OutputStream.standardOutput.write(bytes, stopsOnSignal: false)
    }
    try write(
      bytes, to: FilePath(bytes: RawArguments.bytes(of: argument)), isReplacing: isReplacing,
      followsLinks: true, stopsOnSignal: false)
  }

  /// Gives the file its final name; without `isReplacing` by a link, which fails when the name is
  /// taken, even by another process at this moment.
  fileprivate static func rename(
    _ temporary: FilePath, to path: FilePath, isReplacing: Bool
  ) throws(WriteFailure) {
    if !isReplacing {
      guard let error = FileSystem.link(temporary, as: path) else {
        FileSystem.remove(temporary)
        return
      }
      if error == .fileExists { throw .exists("\(path)") }
      // A file system without hard links: look first, and accept the gap.
      guard error == .notPermitted || error == .notSupported || error == .tooManyLinks else {
        throw .system(error, "\(path)")
      }
      if exists(path) { throw .exists("\(path)") }
    }
    if let error = FileSystem.rename(temporary, to: path) { throw .system(error, "\(path)") }
  }

  /// What the links at `path` lead to, whether it is there or not; only the last component is
  /// followed, and a circle ends where it is noticed.
  fileprivate static func followingLinks(_ path: FilePath) -> FilePath {
    var path = path
    for _ in 0..<40 {
      guard let target = FileSystem.destination(ofLink: path) else { return path }
      path = target.isAbsolute ? target : directory(of: path).pushing(target)
    }
    return path
  }

  /// Whether writing to `path` would replace what is there.
  package static func isTaken(_ path: FilePath) -> Bool {
    exists(path) && !OutputStream.isNeeded(for: path)
  }

  /// Whether anything has the name `path`, a dangling link included.
  private static func exists(_ path: FilePath) -> Bool {
    FileStatus(at: path, followsLinks: false) != nil
  }

  /// Whether the file at `path` was last written before the one at `other` was; false when either
  /// is missing.
  package static func isOlder(_ path: FilePath, than other: FilePath) -> Bool {
    guard let time = FileStamp(at: path)?.modified, let otherTime = FileStamp(at: other)?.modified
    else { return false }
    return time < otherTime
  }

  /// Whether `path` is a directory, or a link to one.
  package static func isDirectory(_ path: FilePath) -> Bool {
    FileStatus(at: path)?.isDirectory ?? false
  }

  /// The directory that holds `path`.
  package static func directory(of path: FilePath) -> FilePath {
    let parent = path.removingLastComponent()
    return parent.isEmpty ? "." : parent
  }

  /// Makes `path` and the directories above it, where they are missing.
  package static func makeDirectory(_ path: FilePath) throws(WriteFailure) {
    if path.isEmpty || isDirectory(path) { return }
    try makeDirectory(path.removingLastComponent())
    guard let error = FileSystem.makeDirectory(path) else { return }
    guard error == .fileExists else { throw .system(error, "\(path)") }
    // Another process made it, or a file has the name.
    if !isDirectory(path) { throw .system(.notDirectory, "\(path)") }
  }
}

/// A file that is written piece by piece, and has its name once it is complete.
package struct PendingFile {
  /// Where its bytes go, in order.
  package let stream: OutputStream
  /// Nil for a pipe or a device, which has its name already.
  private let file: TemporaryFile?
  private let target: FilePath
  private let isReplacing: Bool

  /// Creates it under a temporary name in the directory of `path`; see ``OutputFile``.
  ///
  /// - Parameter followsLinks: Whether the target of a link is replaced instead of the link.
  package init(
    _ path: FilePath, isReplacing: Bool, followsLinks: Bool
  ) throws(WriteFailure) {
    self.isReplacing = isReplacing
    if OutputStream.isNeeded(for: path) {
      (file, target, stream) = (nil, path, try OutputStream(path))
      return
    }
    target = isReplacing && followsLinks ? OutputFile.followingLinks(path) : path
    let file = try TemporaryFile(in: OutputFile.directory(of: target), for: "\(target)")
    self.file = file
    stream = file.stream
  }

  /// Gives it its name, or throws and removes it.
  package func finish() throws(WriteFailure) {
    guard let file else { return stream.close() }
    defer { file.release() }
    do throws(WriteFailure) {
      try file.close()
      try OutputFile.rename(file.path, to: target, isReplacing: isReplacing)
    } catch {
      FileSystem.remove(file.path)
      throw error
    }
  }

  /// Removes it.
  package func discard() {
    guard let file else { return stream.close() }
    FileSystem.remove(file.path)
    file.release()
  }
}

/// A file on its way to its final name, in the directory where that will be.
///
/// Its name is random and its process holds a lock on it. Process numbers would say nothing: they
/// are reused, and containers that share a directory each count their own. The system releases a
/// lock when its process dies, however it dies, so a file that can be locked was left by a dead
/// run.
package struct TemporaryFile {
  let path: FilePath
  private let descriptor: FileDescriptor
  /// What errors call the file.
  private let name: String

  /// Creates a file in `directory` that will be called `name`.
  init(in directory: FilePath, for name: String) throws(WriteFailure) {
    self.name = name
    var attempts = 0
    while true {
      let path = directory.appending(
        "\(Self.prefix)\(String(UInt64.random(in: .min ... .max), radix: 16))\(Self.suffix)")
      let descriptor: FileDescriptor
      do {
        descriptor = try FileDescriptor.open(
          path, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec],
          permissions: FilePermissions(rawValue: 0o666))
      } catch Errno.fileExists where attempts < 100 {
        attempts += 1
        continue
      } catch {
        throw .system(error as? Errno ?? .ioError, name)
      }
      if Self.lock(descriptor) == .busy || (try? FileStatus(of: descriptor))?.isLinked == false {
        // A run that sweeps the directory found the file before it was locked, and removes it.
        try? descriptor.close()
        attempts += 1
        guard attempts < 100 else { throw .system(.resourceTemporarilyUnavailable, name) }
        continue
      }
      (self.path, self.descriptor) = (path, descriptor)
      return
    }
  }

  /// Where its bytes can be written in order.
  var stream: OutputStream { OutputStream(borrowing: descriptor, name: name) }

  /// Writes `bytes`, which are all of the file.
  func write(_ bytes: [UInt8], stopsOnSignal: Bool) throws(WriteFailure) {
    try stream.write(bytes, stopsOnSignal: stopsOnSignal)
    try close()
  }

  /// Closes a duplicate of the descriptor, since some file systems report a full disk only then. The lock
  /// stays, for the file still has its temporary name.
  func close() throws(WriteFailure) {
    do {
      try descriptor.duplicate().close()
    } catch {
      throw .system(error as? Errno ?? .ioError, name)
    }
  }

  /// Releases the lock; the file has its final name, or is gone.
  func release() { try? descriptor.close() }

  /// Removes the temporary files in `directory` whose processes are gone.
  ///
  /// Where the file system has no locks, nothing is removed.
  package static func sweep(_ directory: FilePath) {
    for name in (try? FileSystem.names(in: directory)) ?? [] where isTemporary(name) {
      removeIfDead(directory.appending(name))
    }
  }

  private static func removeIfDead(_ path: FilePath) {
    // Never through a link, and without waiting where somebody put a pipe.
    guard
      let descriptor = try? FileDescriptor.open(
        path, .readWrite, options: [.closeOnExec, .noFollow, .nonBlocking])
    else { return }
    defer { try? descriptor.close() }
    if lock(descriptor) == .taken { FileSystem.remove(path) }
  }

  private static let prefix = ".zoetrope-"
  private static let suffix = ".tmp"

  /// Whether a file called `name` is one of this tool's temporary files.
  static func isTemporary(_ name: String) -> Bool {
    guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return false }
    let middle = name.dropFirst(prefix.count).dropLast(suffix.count)
    return !middle.isEmpty && middle.allSatisfy { $0 == "-" || $0.isHexDigit }
  }

  private enum LockOutcome { case taken, busy, unsupported }

  private static func lock(_ descriptor: FileDescriptor) -> LockOutcome {
    while flock(descriptor.rawValue, LOCK_EX | LOCK_NB) != 0 {
      switch errno {
      case EINTR: continue
      case EWOULDBLOCK: return .busy
      default: return .unsupported
      }
    }
    return .taken
  }
}
