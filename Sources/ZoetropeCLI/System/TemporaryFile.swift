import Glibc
import SystemPackage

/// A file on its way to its final name, in the directory where that will be.
///
/// Its name is random and its process holds a lock on it. Process numbers would say nothing: they are
/// used again, and containers that share a directory count them each for itself. The system gives a
/// lock up when its process dies, however it dies, so a file that can be locked is a dead run's.
struct TemporaryFile {
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
      if Self.lock(descriptor) == .busy || !Self.isLinked(descriptor) {
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

  /// Writes `bytes`, through to where a file system reports a full disk only when a descriptor is
  /// closed. The lock stays, since the file has its temporary name still.
  func write(_ bytes: [UInt8], stopsOnSignal: Bool) throws(WriteFailure) {
    do {
      let copy = try descriptor.duplicate()
      do throws(WriteFailure) {
        try copy.writeFully(bytes, name: name, stopsOnSignal: stopsOnSignal)
      } catch {
        try? copy.close()
        throw error
      }
      try copy.close()
    } catch {
      if let failure = error as? WriteFailure { throw failure }
      throw .system(error as? Errno ?? .ioError, name)
    }
  }

  /// Gives the lock up; the file has its final name, or is gone.
  func release() { try? descriptor.close() }

  /// Removes the temporary files in `directory` whose processes are gone.
  ///
  /// Where the file system has no locks, nothing is removed.
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
      if isTemporary(name) { removeIfDead(directory.appending(name)) }
    }
  }

  private static func removeIfDead(_ path: FilePath) {
    // Never through a link, and without waiting where somebody put a pipe.
    guard
      let descriptor = try? FileDescriptor.open(
        path, .readWrite, options: [.closeOnExec, .noFollow, .nonBlocking])
    else { return }
    defer { try? descriptor.close() }
    if lock(descriptor) == .taken { OutputFile.remove(path) }
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

  /// Whether the file still has a name.
  private static func isLinked(_ descriptor: FileDescriptor) -> Bool {
    var status = stat()
    return unsafe fstat(descriptor.rawValue, &status) != 0 || status.st_nlink > 0
  }
}
