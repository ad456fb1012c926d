internal import Glibc
package import SystemPackage
internal import Zoetrope

/// Writes files atomically: a file appears complete or not at all.
///
/// Bytes go to a temporary file in the same directory, which is renamed when complete. A process that is killed
/// leaves only the temporary file, which the next run that writes to the directory removes (see
/// ``TemporaryFile``). A link that the user named stays a link, and its target is written; a link at a
/// generated name is replaced. Devices, pipes and descriptors are written directly through ``OutputStream``.
package enum OutputFile {
  /// Writes `bytes` to `path`. Replaces an existing file only if `isReplacing`.
  ///
  /// - Parameters:
  /// - followsLinks: Whether to replace the target of a link instead of the link.
  /// - stopsOnSignal: Whether a signal stops writing; false for reports that are written because of a signal.
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

  /// Writes a report to `argument` as named by the user, even after a signal; `-` is standard output.
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

  /// Gives the file its final name. Without `isReplacing` it uses a hard link, which fails if the name is
  /// taken, even if another process takes it at this moment.
  fileprivate static func rename(
    _ temporary: FilePath, to path: FilePath, isReplacing: Bool
  ) throws(WriteFailure) {
    if !isReplacing {
      guard let error = FileSystem.link(temporary, as: path) else {
        FileSystem.remove(temporary)
        return
      }
      if error == .fileExists { throw .exists("\(path)") }
      // Without hard links, check first and accept the race.
      guard error == .notPermitted || error == .notSupported || error == .tooManyLinks else {
        throw .system(error, "\(path)")
      }
      if exists(path) { throw .exists("\(path)") }
    }
    if let error = FileSystem.rename(temporary, to: path) { throw .system(error, "\(path)") }
  }

  /// The target of the links at `path`, which need not exist. Follows only the last component, and stops at a
  /// cycle.
  fileprivate static func followingLinks(_ path: FilePath) -> FilePath {
    var path = path
    for _ in 0..<40 {
      guard let target = FileSystem.destination(ofLink: path) else { return path }
      path = target.isAbsolute ? target : directory(of: path).pushing(target)
    }
    return path
  }

  /// Whether writing to `path` would replace an existing file.
  package static func isTaken(_ path: FilePath) -> Bool {
    exists(path) && !OutputStream.isNeeded(for: path)
  }

  /// Whether anything has the name `path`, a dangling link included.
  private static func exists(_ path: FilePath) -> Bool {
    FileStatus(at: path, followsLinks: false) != nil
  }

  /// Whether the file at `path` was last written before the one at `other`; false if either is missing.
  package static func isOlder(_ path: FilePath, than other: FilePath) -> Bool {
    guard let time = FileStamp(at: path)?.modified, let otherTime = FileStamp(at: other)?.modified
    else { return false }
    return time < otherTime
  }

  /// Whether `path` is a directory, or a link to one.
  package static func isDirectory(_ path: FilePath) -> Bool {
    FileStatus(at: path)?.isDirectory ?? false
  }

  /// The directory that contains `path`.
  package static func directory(of path: FilePath) -> FilePath {
    let parent = path.removingLastComponent()
    return parent.isEmpty ? "." : parent
  }

  /// Creates `path` and any missing parent directories.
  package static func makeDirectory(_ path: FilePath) throws(WriteFailure) {
    if path.isEmpty || isDirectory(path) { return }
    try makeDirectory(path.removingLastComponent())
    guard let error = FileSystem.makeDirectory(path) else { return }
    guard error == .fileExists else { throw .system(error, "\(path)") }
    // Another process created it, or a file has this name.
    if !isDirectory(path) { throw .system(.notDirectory, "\(path)") }
  }
}

/// A file that is written in pieces and gets its name when it is complete.
package struct PendingFile {
  /// The destination of its bytes, in order.
  package let stream: OutputStream
  /// Nil for a pipe or device, which already has its name.
  private let file: TemporaryFile?
  private let target: FilePath
  private let isReplacing: Bool

  /// Creates it under a temporary name in the directory of `path`; see ``OutputFile``.
  ///
  /// - Parameter followsLinks: Whether to replace the target of a link instead of the link.
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

  /// Gives the file its name, or removes it and throws.
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

  /// Removes the file.
  package func discard() {
    guard let file else { return stream.close() }
    FileSystem.remove(file.path)
    file.release()
  }
}

/// A temporary file in the directory of its final name.
///
/// It has a random name, and its process holds a lock on it. Process numbers would not work: they are reused,
/// and containers that share a directory count their own. The system releases the lock when the process dies,
/// however it dies, so a file that can be locked was left by a dead run.
package struct TemporaryFile {
  let path: FilePath
  private let descriptor: FileDescriptor
  /// The file's name in errors.
  private let name: String

  /// Creates a file in `directory` that will get the name `name`.
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
        // A run that sweeps the directory found the file before it was locked, and removed it.
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

  /// Writes `bytes`, the whole contents.
  func write(_ bytes: [UInt8], stopsOnSignal: Bool) throws(WriteFailure) {
    try stream.write(bytes, stopsOnSignal: stopsOnSignal)
    try close()
  }

  /// Closes a duplicate of the descriptor, because some file systems report a full disk only then. The lock
  /// stays, because the file still has its temporary name.
  func close() throws(WriteFailure) {
    do {
      try descriptor.duplicate().close()
    } catch {
      throw .system(error as? Errno ?? .ioError, name)
    }
  }

  /// Releases the lock; the file has its final name or is gone.
  func release() { try? descriptor.close() }

  /// Removes temporary files in `directory` whose processes are gone.
  ///
  /// On a file system without locks, nothing is removed.
  package static func sweep(_ directory: FilePath) {
    for name in (try? FileSystem.names(in: directory)) ?? [] where isTemporary(name) {
      removeIfDead(directory.appending(name))
    }
  }

  private static func removeIfDead(_ path: FilePath) {
    // Never through a link, and without waiting in case it is a pipe.
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
