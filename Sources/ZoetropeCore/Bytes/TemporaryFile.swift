internal import Glibc
package import SystemPackage

/// A file that is written under a temporary name, in the directory in which it gets its final name.
///
/// A process that is killed leaves no partial file under a final name, but only a file with a temporary name, which
/// ``sweep(_:)`` removes. The temporary name is random, and the process that writes the file holds a lock on it. The
/// system releases the lock however that process ends, so a temporary file that can be locked was left behind by a
/// process that has ended. Process ids could not replace the lock: they are reused, and containers that share a
/// directory each number their own processes.
package struct TemporaryFile: Sendable {
  package let path: FilePath
  package let descriptor: FileDescriptor
  /// The path under which the file is published.
  package let target: FilePath

  /// Creates a file with a temporary name in the directory of `target`, the path under which it will be published.
  package init(for target: FilePath) throws(Errno) {
    self.target = target
    let directory = FileSystem.directory(of: target)
    var attempts = 0
    while true {
      let path = directory.appending(
        "\(Self.prefix)\(String(UInt64.random(in: .min ... .max), radix: 16))\(Self.suffix)")
      let descriptor: FileDescriptor
      do {
        descriptor = try IdleFiles.shared.open {
          try FileDescriptor.open(
            path, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec],
            permissions: FilePermissions(rawValue: 0o666))
        }
      } catch Errno.fileExists where attempts < 100 {
        attempts += 1
        continue
      } catch {
        throw error as? Errno ?? .ioError
      }
      if Self.lock(descriptor) == .busy || (try? FileStatus(of: descriptor))?.isLinked == false {
        // Another process that is sweeping the directory found the file before it was locked, and removes it.
        try? descriptor.close()
        attempts += 1
        guard attempts < 100 else { throw .resourceTemporarilyUnavailable }
        continue
      }
      (self.path, self.descriptor) = (path, descriptor)
      return
    }
  }

  /// Throws `fileTooLarge` if this process may not write a file that is `count` bytes longer than this one is now.
  /// Without this check, the system would end the process with SIGXFSZ.
  package func checkSizeLimit(adding count: Int) throws(Errno) {
    let size = try FileStatus(of: descriptor).byteCount
    if count > FileSystem.fileSizeLimit - size { throw .fileTooLarge }
  }

  /// Gives the complete file its final name and closes it. If that fails, removes the file and throws.
  ///
  /// If the file replaces another one, it gets that file's permissions. If `isReplacing` is false, the final name is
  /// created with `link`, which fails with `fileExists` if the name is taken, even if another process takes the name at
  /// the same moment.
  package func publish(isReplacing: Bool) throws(Errno) {
    defer { try? descriptor.close() }
    do throws(Errno) {
      // Some file systems report a full disk only when a file is closed. Closing a duplicate of the descriptor reveals
      // that error and keeps the lock, which the file needs as long as it has its temporary name.
      do {
        try IdleFiles.shared.makingRoom { try descriptor.duplicate() }.close()
      } catch {
        throw error as? Errno ?? .ioError
      }
      try rename(isReplacing: isReplacing)
    } catch {
      FileSystem.remove(path)
      throw error
    }
  }

  private func rename(isReplacing: Bool) throws(Errno) {
    if isReplacing {
      if let old = FileStatus(at: target, followsLinks: false), old.isRegular {
        // If this call fails, the file keeps the permissions of a new file.
        _ = fchmod(descriptor.rawValue, old.permissions)
      }
    } else {
      guard let error = FileSystem.link(path, as: target) else {
        FileSystem.remove(path)
        return
      }
      // On a file system without hard links, check whether the name is taken before renaming, and accept the race.
      guard error == .notPermitted || error == .notSupported || error == .tooManyLinks else {
        throw error
      }
      if FileStatus(at: target, followsLinks: false) != nil { throw .fileExists }
    }
    if let error = FileSystem.rename(path, to: target) { throw error }
  }

  /// Removes and closes the file.
  package func discard() {
    FileSystem.remove(path)
    try? descriptor.close()
  }

  /// Removes the temporary files in `directory` that were left behind by processes that have ended.
  ///
  /// If the file system does not support locks, nothing is removed.
  package static func sweep(_ directory: FilePath) {
    for name in (try? FileSystem.names(in: directory)) ?? [] where isTemporary(name) {
      removeIfDead(directory.appending(name))
    }
  }

  private static func removeIfDead(_ path: FilePath) {
    // Do not follow a link, and do not block if the file is a pipe.
    guard
      let descriptor = try? FileDescriptor.open(
        path, .readWrite, options: [.closeOnExec, .noFollow, .nonBlocking])
    else { return }
    defer { try? descriptor.close() }
    if lock(descriptor) == .taken { FileSystem.remove(path) }
  }

  private static let prefix = ".zoetrope-"
  private static let suffix = ".tmp"

  /// Returns whether `name` has the form of the temporary names that this type creates.
  package static func isTemporary(_ name: String) -> Bool {
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

extension FileSystem {
  /// Returns the directory that contains `path`.
  package static func directory(of path: FilePath) -> FilePath {
    let parent = path.removingLastComponent()
    return parent.isEmpty ? "." : parent
  }

  /// Returns `path` as an absolute path, which still names the same file after the process has changed its directory.
  ///
  /// Returns `path` itself if its absolute form would not work: because the current directory was removed, or because
  /// this user may not search a directory above it.
  package static func absolute(_ path: FilePath) -> FilePath {
    guard !path.isEmpty, !path.isAbsolute, let current = currentDirectory,
      let named = FileStatus(at: current), let here = FileStatus(at: "."),
      named.device == here.device, named.inode == here.inode
    else { return path }
    return current.pushing(path)
  }

  /// Returns the target of the symbolic link at `path`, or `path` itself if it is not a link. The target need not
  /// exist. At most 40 links are followed, and only in the last component of a path.
  package static func followingLinks(_ path: FilePath) -> FilePath {
    var path = path
    for _ in 0..<40 {
      guard let target = destination(ofLink: path) else { return path }
      path = target.isAbsolute ? target : directory(of: path).pushing(target)
    }
    return path
  }
}
