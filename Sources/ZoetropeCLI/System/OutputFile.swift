import Glibc
import Synchronization
import SystemPackage

/// A file that is there whole or not at all.
///
/// The bytes go to a temporary name in the same directory and are renamed when they are complete: a
/// process that is killed leaves no partial file under a final name, only a temporary one, which the
/// next run that writes to the directory removes.
enum OutputFile {
  private static let serial = Atomic<Int>(0)

  /// Writes `bytes` to `path`; replaces what is there only when `isReplacing`.
  static func write(
    _ bytes: [UInt8], to path: FilePath, isReplacing: Bool
  ) throws(WriteFailure) {
    let name = "\(path)"
    let number = serial.add(1, ordering: .relaxed).oldValue
    let temporary = directory(of: path).appending(".zoetrope-\(getpid())-\(number).tmp")
    let descriptor: FileDescriptor
    do {
      descriptor = try FileDescriptor.open(
        temporary, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec],
        permissions: FilePermissions(rawValue: 0o666))
    } catch {
      throw .system(error as? Errno ?? .ioError, name)
    }
    do throws(WriteFailure) {
      do throws(WriteFailure) {
        try descriptor.writeFully(bytes, name: name)
      } catch {
        try? descriptor.close()
        throw error
      }
      // Some file systems report a full disk only here.
      do { try descriptor.close() } catch { throw .system(error as? Errno ?? .ioError, name) }
      try rename(temporary, to: path, isReplacing: isReplacing)
    } catch {
      remove(temporary)
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

  private static func remove(_ path: FilePath) {
    _ = unsafe path.withPlatformString { unsafe unlink($0) }
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

  /// Removes temporary files in `directory` whose process is gone.
  static func sweep(_ directory: FilePath) {
    guard let stream = unsafe directory.withPlatformString({ unsafe opendir($0) }) else { return }
    defer { unsafe closedir(stream) }
    while let entry = unsafe readdir(stream) {
      // `d_name` holds a NUL-terminated name of at most 255 bytes.
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
          unsafe String(cString: $0)
        }
      }
      guard let process = owner(ofTemporary: name), kill(process, 0) == -1, errno == ESRCH else {
        continue
      }
      remove(directory.appending(name))
    }
  }

  /// The process that made the temporary file called `name`; nil for other files.
  static func owner(ofTemporary name: String) -> pid_t? {
    guard name.hasPrefix(".zoetrope-"), name.hasSuffix(".tmp") else { return nil }
    let parts = name.dropFirst(10).dropLast(4).split(
      separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let process = pid_t(parts[0]), process > 0, Int(parts[1]) != nil else {
      return nil
    }
    return process
  }
}
