package import SystemPackage

/// The directory of a frame store: private to this user, created if missing.
///
/// Everything is accessed by path, even after the directory was checked, so a user who may rename one of its parents
/// can substitute another directory. This neither reveals frames nor shows wrong ones: files are created with access
/// for this user only, and opened only if they belong to this user alone (for reading, to this user or root); names
/// contain a hash of the store's secret, and checksums are keyed with it. The only possible loss is that of cached
/// frames: tables and records in the other directory are counted and evicted as if they were the store's own; see
/// `StoreFiles`. Holding a descriptor of the directory would not help, because the next process starts from the path
/// again.
package enum TableDirectory {
  /// Creates `path` and its missing parents, and checks that no other user may write there.
  ///
  /// - Returns: Whether this user may write there; if so, no other user may read it either.
  @discardableResult
  package static func make(_ path: FilePath) throws(AnimatedImageError) -> Bool {
    var missing: [FilePath] = []
    var next = path
    while !next.isEmpty, !exists(next) {
      missing.append(next)
      guard next.removeLastComponent() else { break }
    }
    for directory in missing.reversed() {
      try TableCall.makeDirectory.make("make \(directory)") {
        try TableCall.makeDirectory.check()
        let error = FileSystem.makeDirectory(directory, permissions: .ownerReadWriteExecute)
        if let error, error != .fileExists { throw error }
      }
    }
    let found = try TableCall.stat.make("stat \(path)") {
      try FileStatus(checking: path, followsLinks: false)
    }
    let isWritable = try TableCall.openWriting.make("write to \(path)") {
      do {
        try TableCall.openWriting.check()
        try FileSystem.checkWritable(path)
        return true
      } catch Errno.readOnlyFileSystem, Errno.permissionDenied, Errno.notPermitted {
        return false
      }
    }
    guard found.isDirectory, isWritable ? found.isPrivate : found.isTrusted else {
      throw AnimatedImageError(
        .storeDenied,
        "\(path) is not a directory "
          + (isWritable ? "owned by this user alone" : "that only its owner may write"))
    }
    return isWritable
  }

  /// Returns the regular files in the directory; empty if it does not exist.
  package static func list(
    _ path: FilePath
  ) throws(AnimatedImageError) -> [(name: String, status: FileStatus)] {
    let names = try TableCall.list.make("list \(path)") {
      do {
        try TableCall.list.check()
        return try IdleFiles.shared.makingRoom { try FileSystem.names(in: path) }
      } catch Errno.noSuchFileOrDirectory { return [] }
    }
    return names.compactMap { name in
      FileStatus(at: path.appending(name), followsLinks: false)
        .flatMap { $0.isRegular ? (name, $0) : nil }
    }
  }

  /// Returns the regular files in the directory; empty if it cannot be read.
  package static func files(in path: FilePath) -> [(name: String, status: FileStatus)] {
    (try? list(path)) ?? []
  }

  /// Returns whether anything exists at `path`. Unlike ``exists(_:)``, throws if that cannot be determined.
  package static func isPresent(_ path: FilePath) throws(AnimatedImageError) -> Bool {
    do throws(Errno) { _ = try FileStatus(checking: path) } catch {
      if error == .noSuchFileOrDirectory { return false }
      throw .store(error, "look for \(path)")
    }
    return true
  }

  /// Returns whether anything exists at `path`.
  package static func exists(_ path: FilePath) -> Bool { FileStatus(at: path) != nil }

  /// Renames the file at `temporary` to `path`.
  ///
  /// - Returns: False if `path` exists and `replacing` is false; then nothing changes.
  package static func publish(
    _ temporary: FilePath, as path: FilePath, replacing: Bool
  ) throws(AnimatedImageError) -> Bool {
    defer { if !replacing { FileSystem.remove(temporary) } }
    return try TableCall.publish.make("name \(path)") {
      do {
        try TableCall.publish.check()
        let error =
          replacing
          ? FileSystem.rename(temporary, to: path) : FileSystem.link(temporary, as: path)
        if let error { throw error }
        return true
      } catch Errno.fileExists { return false }
    }
  }
}
