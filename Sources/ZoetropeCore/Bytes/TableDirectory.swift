internal import Glibc
package import SystemPackage

/// The directory of a frame store: private to this user, created if missing.
///
/// Everything is found by path, also after the directory was checked. Somebody who may rename one of its
/// parents can put another directory in its place. That shows nothing to anybody and no wrong frame: files are
/// created with access for this user only, and opened only if they belong to this user alone (for reading, to
/// this user or root), names contain a hash of the store's secret, and checksums are keyed with it. What can be
/// lost is cached frames: tables and records that lie in the other directory are counted and evicted like the
/// store's own, and only those; see `StoreFiles`. A descriptor of the directory would not help, since the next
/// process starts from the path.
package enum TableDirectory {
  /// Creates `path` and its missing parents, and checks that nobody else may write there.
  ///
  /// - Returns: Whether this user may write there; then nobody else may read it either.
  @discardableResult
  package static func make(_ path: FilePath) throws(AnimatedImageError) -> Bool {
    var missing: [FilePath] = []
    var next = path
    while unsafe next.withPlatformString({ unsafe access($0, F_OK) }) != 0, !next.isEmpty {
      missing.append(next)
      guard next.removeLastComponent() else { break }
    }
    for directory in missing.reversed()
    where unsafe TableCall.makeDirectory.fails
      || directory.withPlatformString({ unsafe mkdir($0, 0o700) }) != 0
    {
      if errno == EEXIST { continue }
      if errno == EINTR { return try make(path) }
      throw .store(errno, "make \(directory)")
    }
    var status = stat()
    guard unsafe path.withPlatformString({ unsafe lstat($0, &status) }) == 0 else {
      throw .store(errno, "stat \(path)")
    }
    let found = TableFile.Status(status)
    let isWritable = unsafe path.withPlatformString {
      unsafe !TableCall.openWriting.fails && access($0, W_OK | X_OK) == 0
    }
    if !isWritable {
      if errno == EINTR { return try make(path) }
      guard [EROFS, EACCES, EPERM].contains(errno) else { throw .store(errno, "write to \(path)") }
    }
    guard found.isDirectory, isWritable ? found.isPrivate : found.isTrusted else {
      throw AnimatedImageError(
        .storeDenied,
        "\(path) is not a directory "
          + (isWritable ? "of this user alone" : "that only its owner may write"))
    }
    return isWritable
  }

  /// The regular files in the directory; empty if it does not exist.
  package static func list(
    _ path: FilePath
  ) throws(AnimatedImageError) -> [(name: String, status: TableFile.Status)] {
    let stream: OpaquePointer
    do {
      unsafe stream = try IdleFiles.shared.makingRoom {
        let stream = unsafe path.withPlatformString {
          unsafe TableCall.list.fails ? nil : opendir($0)
        }
        guard let stream = unsafe stream else { throw Errno(rawValue: errno) }
        return unsafe stream
      }
    } catch {
      let number = (error as? Errno)?.rawValue ?? EIO
      if number == EINTR { return try list(path) }
      if number == ENOENT { return [] }
      throw .store(number, "list \(path)")
    }
    defer { unsafe _ = closedir(stream) }
    var found: [(name: String, status: TableFile.Status)] = []
    while true {
      errno = 0
      guard let entry = unsafe readdir(stream) else { break }
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      var status = stat()
      let result = unsafe name.withCString {
        unsafe fstatat(dirfd(stream), $0, &status, AT_SYMLINK_NOFOLLOW)
      }
      guard result == 0 else { continue }
      let file = TableFile.Status(status)
      if file.isRegular { found.append((name, file)) }
    }
    if errno != 0 { throw .store(errno, "list \(path)") }
    return found
  }

  /// The regular files in the directory; empty if it cannot be read.
  package static func files(in path: FilePath) -> [(name: String, status: TableFile.Status)] {
    (try? list(path)) ?? []
  }

  /// Whether anything exists at `path`. Unlike ``exists(_:)``, throws if that cannot be found out.
  package static func isPresent(_ path: FilePath) throws(AnimatedImageError) -> Bool {
    if exists(path) { return true }
    if errno == ENOENT { return false }
    throw .store(errno, "look for \(path)")
  }

  /// Whether anything exists at `path`.
  package static func exists(_ path: FilePath) -> Bool {
    unsafe path.withPlatformString { unsafe access($0, F_OK) } == 0
  }

  /// Removes a file; processes that have it open or mapped keep it. Best effort.
  package static func remove(_ path: FilePath) {
    _ = unsafe path.withPlatformString { unsafe unlink($0) }
  }

  /// Renames the file at `temporary` to `path`.
  ///
  /// - Returns: False if `path` exists and `replacing` is false; then nothing changes.
  package static func publish(
    _ temporary: FilePath, as path: FilePath, replacing: Bool
  ) throws(AnimatedImageError) -> Bool {
    let result = unsafe temporary.withPlatformString { from in
      unsafe path.withPlatformString { to in
        unsafe TableCall.publish.fails ? -1 : replacing ? rename(from, to) : link(from, to)
      }
    }
    let number = errno
    if result != 0, number == EINTR {
      return try publish(temporary, as: path, replacing: replacing)
    }
    if !replacing { remove(temporary) }
    if result == 0 { return true }
    guard number == EEXIST else { throw .store(number, "name \(path)") }
    return false
  }
}
