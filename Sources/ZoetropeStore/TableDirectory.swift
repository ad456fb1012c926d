package import SystemPackage

/// Functions for the directory of a frame store. The directory is private to this user and is created if it is missing.
///
/// All files in the directory are accessed by path, even after the directory was checked, so a user who may rename one
/// of its parents can substitute another directory. Such a substitution neither reveals frames nor makes the store
/// return wrong ones: files are created with access for this user only, and are opened only if they belong to this user
/// alone (for reading, to this user or root). The names of tables contain a hash of the store's secret, and checksums
/// are keyed with the secret. Only cached frames can be lost: tables and records in the other directory are counted and
/// evicted as if they were the store's own; see `StoreFiles`. Keeping a descriptor of the directory open would not
/// help, because the next process starts from the path again.
package enum TableDirectory {
  /// Creates the directory `path` and its missing parents, and checks that no other user may write to the directory.
  ///
  /// - Returns: Whether this user may write to the directory. If so, no other user may read it either.
  @discardableResult
  package static func make(_ path: FilePath) throws(AnimatedImageError) -> Bool {
    var missing: [FilePath] = []
    var next = path
    while !next.isEmpty, !exists(next) {
      missing.append(next)
      guard next.removeLastComponent() else { break }
    }
    for directory in missing.reversed() {
      do throws(AnimatedImageError) {
        try TableCall.makeDirectory.make("create \(directory.quoted)") {
          try TableCall.makeDirectory.check()
          let error = FileSystem.makeDirectory(directory, permissions: .ownerReadWriteExecute)
          guard let error else { return }
          if error != .fileExists { throw error }
          // A link that leads nowhere exists, and is no directory.
          if !exists(directory) { throw Errno.noSuchFileOrDirectory }
        }
      } catch {
        // A store that does not exist yet cannot be damaged.
        guard error.code == .storeDamaged else { throw error }
        throw AnimatedImageError(.io, error.detail, systemError: error.systemError)
      }
    }
    let found = try TableCall.stat.make("read the status of \(path.quoted)") {
      try FileStatus(checking: path, followsLinks: false)
    }
    let isWritable = try TableCall.openWriting.make("write to \(path.quoted)") {
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
        "\(path.quoted) is not a directory that only "
          + (isWritable ? "the current user can access" : "its owner can write"))
    }
    return isWritable
  }

  /// Returns the regular files in the directory, or an empty array if the directory does not exist.
  package static func list(
    _ path: FilePath
  ) throws(AnimatedImageError) -> [(name: String, status: FileStatus)] {
    let names = try TableCall.list.make("list \(path.quoted)") {
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

  /// Returns the regular files in the directory, or an empty array if the directory cannot be read.
  package static func files(in path: FilePath) -> [(name: String, status: FileStatus)] {
    (try? list(path)) ?? []
  }

  /// Returns whether anything exists at `path`. Unlike ``exists(_:)``, throws an error if this cannot be determined.
  package static func isPresent(_ path: FilePath) throws(AnimatedImageError) -> Bool {
    do throws(Errno) { _ = try FileStatus(checking: path) } catch {
      if error == .noSuchFileOrDirectory { return false }
      throw .store(error, "read the status of \(path.quoted)")
    }
    return true
  }

  /// Returns whether anything exists at `path`.
  package static func exists(_ path: FilePath) -> Bool { FileStatus(at: path) != nil }

  /// Creates a file at `path`. The file has another name until `write` has written it.
  ///
  /// - Parameter replacing: Whether to replace a file at `path`. If false, such a file is kept, and the new one is
  ///   removed.
  static func create(
    _ path: FilePath, replacing: Bool, _ write: (TableFile) throws(AnimatedImageError) -> Void
  ) throws(AnimatedImageError) {
    let name = path.lastComponent?.string ?? ""
    let number = String(UInt64.random(in: 1...UInt64.max), radix: 16)
    let temporary = path.removingLastComponent().appending("\(name).\(number).new")
    guard let file = try TableFile.open(temporary, creating: true) else { return }
    do throws(AnimatedImageError) {
      try write(file)
      try publish(temporary, as: path, replacing: replacing)
    } catch {
      FileSystem.remove(temporary)
      throw error
    }
  }

  private static func publish(
    _ temporary: FilePath, as path: FilePath, replacing: Bool
  ) throws(AnimatedImageError) {
    defer { if !replacing { FileSystem.remove(temporary) } }
    try TableCall.publish.make("create \(path.quoted)") {
      do {
        try TableCall.publish.check()
        let error =
          replacing
          ? FileSystem.rename(temporary, to: path) : FileSystem.link(temporary, as: path)
        if let error { throw error }
      } catch Errno.fileExists { return }
    }
  }
}
