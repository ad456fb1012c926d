import Glibc
import SystemPackage
import Zoetrope

/// A file that is there whole or not at all.
///
/// The bytes go to a temporary name in the same directory and are renamed when they are complete: a
/// process that is killed leaves no partial file under a final name, only a temporary one, which the
/// next run that writes to the directory removes (see ``TemporaryFile``). A link that the user named stays a link, and what
/// it leads to is written; one in the way of a name that was made up here is replaced.
/// Devices, pipes and descriptors are no files in this sense; bytes go straight to ``OutputStream``.
enum OutputFile {
  /// Writes `bytes` to `path`; replaces a file that is there only when `isReplacing`.
  ///
  /// - Parameters:
  ///   - followsLinks: Whether what a link leads to is replaced instead of the link.
  ///   - stopsOnSignal: Whether a signal ends the writing; false for what is to be told because of
  ///     a signal.
  static func write(
    _ bytes: [UInt8], to path: FilePath, isReplacing: Bool, followsLinks: Bool = false,
    stopsOnSignal: Bool = true
  ) throws(WriteFailure) {
    if OutputStream.isNeeded(for: path) {
      let stream = try OutputStream(path)
      defer { stream.close() }
      return try stream.descriptor.writeFully(
        bytes, name: stream.name, stopsOnSignal: stopsOnSignal)
    }
    try writeFile(
      bytes, to: isReplacing && followsLinks ? followingLinks(path) : path,
      isReplacing: isReplacing, stopsOnSignal: stopsOnSignal)
  }

  private static func writeFile(
    _ bytes: [UInt8], to path: FilePath, isReplacing: Bool, stopsOnSignal: Bool
  ) throws(WriteFailure) {
    let name = "\(path)"
    let file = try TemporaryFile(in: directory(of: path), for: name)
    defer { file.release() }
    do throws(WriteFailure) {
      try file.write(bytes, stopsOnSignal: stopsOnSignal)
      try rename(file.path, to: path, isReplacing: isReplacing)
    } catch {
      remove(file.path)
      throw error
    }
  }

  /// Gives the file its final name; without `isReplacing` by a link, which fails when the name is
  /// taken, also by another process at this moment.
  private static func rename(
    _ temporary: FilePath, to path: FilePath, isReplacing: Bool
  ) throws(WriteFailure) {
    if !isReplacing {
      if unsafe call(temporary, path, { unsafe link($0, $1) }) == 0 {
        remove(temporary)
        return
      }
      let error = Errno(rawValue: errno)
      if error == .fileExists { throw .exists("\(path)") }
      // A file system without hard links: look first, and accept the gap.
      guard error == .notPermitted || error == .notSupported || error == .tooManyLinks else {
        throw .system(error, "\(path)")
      }
      if exists(path) { throw .exists("\(path)") }
    }
    guard unsafe call(temporary, path, { unsafe Glibc.rename($0, $1) }) == 0 else {
      throw .system(Errno(rawValue: errno), "\(path)")
    }
  }

  private static func call(
    _ first: FilePath, _ second: FilePath,
    _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32
  ) -> Int32 {
    unsafe first.withPlatformString { first in
      unsafe second.withPlatformString { second in unsafe body(first, second) }
    }
  }

  static func remove(_ path: FilePath) {
    _ = unsafe path.withPlatformString { unsafe unlink($0) }
  }

  /// What the links at `path` lead to, whether it is there or not; only the last component is
  /// looked at, and a circle ends where it is noticed.
  private static func followingLinks(_ path: FilePath) -> FilePath {
    var path = path
    for _ in 0..<40 {
      var buffer = [CChar](repeating: 0, count: 4097)
      // The count that is passed leaves a byte for the NUL that `readlink` does not write.
      let count = unsafe path.withPlatformString { unsafe readlink($0, &buffer, buffer.count - 1) }
      guard count > 0 else { return path }
      let target = FilePath(bytes: buffer[..<count].map { UInt8(bitPattern: $0) })
      path = target.isAbsolute ? target : directory(of: path).pushing(target)
    }
    return path
  }

  /// Whether writing to `path` would replace what is there.
  static func isTaken(_ path: FilePath) -> Bool {
    exists(path) && !OutputStream.isNeeded(for: path)
  }

  /// Whether anything has the name `path`, a dangling link included.
  static func exists(_ path: FilePath) -> Bool {
    var status = stat()
    return unsafe path.withPlatformString { unsafe lstat($0, &status) } == 0
  }

  /// The size of the file at `path`; nil when there is none.
  static func byteCount(of path: FilePath) -> Int? {
    var status = stat()
    guard unsafe path.withPlatformString({ unsafe stat($0, &status) }) == 0 else { return nil }
    return Int(status.st_size)
  }

  /// Whether the file at `path` was last written before the one at `other` was; false when either
  /// is missing.
  static func isOlder(_ path: FilePath, than other: FilePath) -> Bool {
    guard let time = FileStamp(at: path)?.modified, let otherTime = FileStamp(at: other)?.modified
    else { return false }
    return time < otherTime
  }

  /// Whether `path` is a directory, or a link to one.
  static func isDirectory(_ path: FilePath) -> Bool {
    var status = stat()
    guard unsafe path.withPlatformString({ unsafe stat($0, &status) }) == 0 else { return false }
    return status.st_mode & S_IFMT == S_IFDIR
  }

  /// Whether `path` is a pipe, a socket or a character device, which can only be read in order.
  static func isPipe(_ path: FilePath) -> Bool {
    var status = stat()
    guard unsafe path.withPlatformString({ unsafe stat($0, &status) }) == 0 else { return false }
    return [S_IFIFO, S_IFSOCK, S_IFCHR].contains(status.st_mode & S_IFMT)
  }

  /// The directory that holds `path`.
  static func directory(of path: FilePath) -> FilePath {
    let parent = path.removingLastComponent()
    return parent.isEmpty ? "." : parent
  }

  /// Makes `path` and the directories above it, where they are missing.
  static func makeDirectory(_ path: FilePath) throws(WriteFailure) {
    if path.isEmpty || isDirectory(path) { return }
    try makeDirectory(path.removingLastComponent())
    let result = unsafe path.withPlatformString { unsafe mkdir($0, 0o777) }
    guard result == 0 || (errno == EEXIST && isDirectory(path)) else {
      throw .system(Errno(rawValue: errno), "\(path)")
    }
  }
}
