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

  /// A file that will be called `target`.
  fileprivate static func temporary(for target: FilePath) throws(WriteFailure) -> TemporaryFile {
    do throws(Errno) {
      return try TemporaryFile(for: target)
    } catch {
      throw .system(error, "\(target)")
    }
  }

  /// Gives the complete file its final name, or removes it and throws.
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
  package static func directory(of path: FilePath) -> FilePath { FileSystem.directory(of: path) }

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
  private let isReplacing: Bool

  /// Creates it under a temporary name in the directory of `path`; see ``OutputFile``.
  ///
  /// - Parameter followsLinks: Whether the target of a link is replaced instead of the link.
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

  /// Gives it its name, or throws and removes it.
  package func finish() throws(WriteFailure) {
    guard let file else { return stream.close() }
    try OutputFile.publish(file, isReplacing: isReplacing)
  }

  /// Removes it.
  package func discard() {
    guard let file else { return stream.close() }
    file.discard()
  }
}
