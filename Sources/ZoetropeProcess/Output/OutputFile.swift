package import SystemPackage
internal import Zoetrope

/// Writes files atomically: each file appears complete or not at all.
///
/// The bytes go to a temporary file in the directory of the output. When the temporary file is complete, it is renamed
/// to the name of the output. A process that is killed leaves only the temporary file, which the next run that writes
/// to the directory removes (see ``TemporaryFile``). If the user named a link, the link stays, and its target is
/// written. If a generated name is that of a link, the link is replaced. Devices, pipes and descriptors are written
/// directly through ``OutputStream``.
package enum OutputFile {
  /// Writes `bytes` to `path`. Replaces an existing file only if `isReplacing`.
  ///
  /// - Parameters:
  ///   - followsLinks: Whether to replace the target of a link instead of the link.
  ///   - stopsOnSignal: Whether a signal stops the writing. False for reports that are written because of a signal.
  package static func write(
    _ bytes: [UInt8], to path: FilePath, isReplacing: Bool, followsLinks: Bool = false,
    stopsOnSignal: Bool = true
  ) throws(WriteFailure) {
    if OutputStream.isNeeded(for: path) {
      let stream = try OutputStream(path)
      defer { stream.close() }
      return try stream.write(bytes, stopsOnSignal: stopsOnSignal)
    }
    let target = isReplacing && followsLinks ? FileSystem.followingLinks(path) : path
    let file = try temporary(for: target)
    do throws(WriteFailure) {
      try OutputStream(borrowing: file.descriptor, name: "\(target)")
        .write(bytes, stopsOnSignal: stopsOnSignal)
    } catch {
      file.discard()
      throw error
    }
    try publish(file, isReplacing: isReplacing)
  }

  /// Writes `report` to `argument`, a name that the user gave, even after a signal. `-` is standard output.
  package static func write(
    report: String, to argument: String, isReplacing: Bool
  ) throws(CommandFailure) {
    let bytes = Array(report.utf8)
    if argument == "-" {
      try OutputStream.print(bytes, stopsOnSignal: false)
      return
    }
    _ = try Delivery.of { () throws(WriteFailure) in
      try write(
        bytes, to: FilePath(bytes: RawArguments.bytes(of: argument)), isReplacing: isReplacing,
        followsLinks: true, stopsOnSignal: false)
    }
  }

  /// Creates a temporary file that is to be renamed to `target`.
  fileprivate static func temporary(for target: FilePath) throws(WriteFailure) -> TemporaryFile {
    do throws(Errno) {
      return try TemporaryFile(for: target)
    } catch {
      throw .system(error, "\(target)")
    }
  }

  /// Renames the complete `file` to its final name. If that fails, removes `file` and throws.
  fileprivate static func publish(
    _ file: TemporaryFile, isReplacing: Bool
  ) throws(WriteFailure) {
    do throws(Errno) {
      try file.publish(isReplacing: isReplacing)
    } catch {
      throw error == .fileExists && !isReplacing
        ? .exists("\(file.target)") : .system(error, "\(file.target)")
    }
  }

  /// Returns whether writing to `path` would replace an existing file.
  package static func isTaken(_ path: FilePath) -> Bool {
    // A dangling link would be replaced too.
    FileStatus(at: path, followsLinks: false) != nil && !OutputStream.isNeeded(for: path)
  }

  /// Returns whether the file at `path` was last modified before the file at `other`. Returns false if either file is
  /// missing.
  package static func isOlder(_ path: FilePath, than other: FilePath) -> Bool {
    guard let time = FileStamp(at: path)?.modified, let otherTime = FileStamp(at: other)?.modified
    else { return false }
    return time < otherTime
  }

  /// Returns whether the file at `path` can be read and begins with `start`.
  package static func isFile(_ path: FilePath, beginningWith start: [UInt8]) -> Bool {
    guard let file = try? FileDescriptor.open(path, .readOnly, options: [.closeOnExec]) else {
      return false
    }
    defer { try? file.close() }
    return file.prefix(start.count) == start
  }

  /// Returns the path of the file that the user called `name`, for writing.
  ///
  /// - Throws: A usage failure if `name` ends in a slash or names a directory.
  package static func path(ofFile name: String) throws(CommandFailure) -> FilePath {
    let bytes = RawArguments.bytes(of: name)
    let path = FilePath(bytes: bytes)
    guard bytes.last != UInt8(ascii: "/"), !isDirectory(path) else {
      throw .usage("\(name) is a directory; name a file")
    }
    return path
  }

  /// Returns whether `path` is a directory, or a link to a directory.
  package static func isDirectory(_ path: FilePath) -> Bool {
    FileStatus(at: path)?.isDirectory ?? false
  }

  package static func directory(of path: FilePath) -> FilePath { FileSystem.directory(of: path) }

  /// Creates `path` and any missing parent directories.
  package static func makeDirectory(_ path: FilePath) throws(WriteFailure) {
    if path.isEmpty || isDirectory(path) { return }
    try makeDirectory(path.removingLastComponent())
    guard let error = FileSystem.makeDirectory(path) else { return }
    guard error == .fileExists else { throw .system(error, "\(path)") }
    // Another process has just created the directory, or a file has its name.
    if !isDirectory(path) { throw .system(.notDirectory, "\(path)") }
  }
}

/// A file that is written in pieces and renamed when it is complete.
package struct PendingFile {
  /// The stream to which the bytes of the file are written, in order.
  package let stream: OutputStream
  /// The temporary file, or nil for a pipe or device, which is written directly.
  private let file: TemporaryFile?
  private let isReplacing: Bool
  /// Whether the file appears only when it is finished, and not at all if it is discarded.
  package var isTemporary: Bool { file != nil }

  /// Creates the file under a temporary name in the directory of `path`; see ``OutputFile``.
  ///
  /// - Parameter followsLinks: Whether to replace the target of a link instead of the link.
  package init(
    _ path: FilePath, isReplacing: Bool, followsLinks: Bool
  ) throws(WriteFailure) {
    self.isReplacing = isReplacing
    if OutputStream.isNeeded(for: path) {
      (file, stream) = (nil, try OutputStream(path))
      return
    }
    let target = isReplacing && followsLinks ? FileSystem.followingLinks(path) : path
    let file = try OutputFile.temporary(for: target)
    self.file = file
    stream = OutputStream(borrowing: file.descriptor, name: "\(target)")
  }

  /// Renames the file to its final name. If that fails, removes the file and throws.
  package func finish() throws(WriteFailure) {
    guard let file else { return stream.close() }
    try OutputFile.publish(file, isReplacing: isReplacing)
  }

  package func discard() {
    guard let file else { return stream.close() }
    file.discard()
  }
}
