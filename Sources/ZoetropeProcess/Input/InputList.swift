package import SystemPackage
internal import Zoetrope

/// The inputs that a command line names: files, directories, and a list of file names.
///
/// A directory is replaced by the animations in it, which are recognised by their extensions and sorted by name. Hidden
/// files are left out.
package struct InputList: Hashable, Sendable {
  /// The FILE arguments.
  package var arguments: [String]
  /// Whether directories are searched recursively.
  package var isRecursive: Bool
  /// The name of the file that lists further inputs, or `-` for standard input. Nil if there is no list.
  package var list: String?
  /// Whether the names in the list end with NUL instead of a line break.
  package var endsNamesWithNull: Bool

  /// The maximum number of bytes in a list.
  private static let listByteLimit = 256 << 20

  package init(
    _ arguments: [String], isRecursive: Bool = false, list: String? = nil,
    endsNamesWithNull: Bool = false
  ) {
    (self.arguments, self.isRecursive) = (arguments, isRecursive)
    (self.list, self.endsNamesWithNull) = (list, endsNamesWithNull)
  }

  /// Returns the inputs in order: those named by arguments, then those named in the list. A directory without
  /// animations remains an input. Opening it fails, as for a missing file.
  ///
  /// - Parameter outputDirectory: The directory of the outputs. If it lies in a searched directory, it is left out,
  ///   because it contains the outputs of earlier runs. It is searched only if an argument names it.
  /// - Throws: A failure if the list cannot be read, if there is no input, or if standard input is named twice.
  package func inputs(
    outputDirectory: FilePath? = nil
  ) throws(CommandFailure) -> [InputFile] {
    let outputs = outputDirectory.flatMap { FileStatus(at: $0) }
    var inputs = try named().flatMap { input in
      input.path.map { contents(of: input, at: $0, without: outputs) } ?? [input]
    }
    if list != nil { for place in inputs.indices { inputs[place].list = list } }
    return inputs
  }

  /// Returns the inputs that are named on the command line, followed by those named in the list. Directories are not
  /// replaced by their contents.
  ///
  /// - Throws: The same failures as ``inputs(outputDirectory:)``.
  package func named() throws(CommandFailure) -> [InputFile] {
    let readers = arguments.count { $0 == "-" } + (list == "-" ? 1 : 0)
    if readers > 1 { throw .usage("standard input can be read only once") }
    var named = arguments.map { InputFile($0) }
    for name in try listedNames() { named.append(InputFile(path: FilePath(bytes: Array(name)))) }
    if named.isEmpty { throw .usage("the list \(list ?? "") contains no file names") }
    return named
  }

  /// Returns the animations in the directory at `path`. Returns `input` itself if `path` is not a directory, or is a
  /// directory without animations.
  private func contents(
    of input: InputFile, at path: FilePath, without outputs: FileStatus?
  ) -> [InputFile] {
    guard FileStatus(at: path)?.isDirectory ?? false else { return [input] }
    let found = animations(in: path, below: path, without: outputs)
    return found.isEmpty ? [input] : found
  }

  private func animations(
    in directory: FilePath, below root: FilePath, without outputs: FileStatus?
  ) -> [InputFile] {
    guard let names = try? FileSystem.entries(of: directory) else {
      return directory == root ? [] : [InputFile(path: directory, below: root)]
    }
    var found: [InputFile] = []
    for name in names.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      guard name.first != UInt8(ascii: "."),
        let component = FilePath(bytes: name).lastComponent
      else { continue }
      let path = directory.appending(component)
      // Links to directories are not followed, because they may lead back to this directory.
      if isRecursive, let status = FileStatus(at: path, followsLinks: false), status.isDirectory {
        guard status.device != outputs?.device || status.inode != outputs?.inode else { continue }
        found += animations(in: path, below: root, without: outputs)
      } else if Self.isAnimation(component), FileStatus(at: path)?.isRegular ?? false {
        found.append(InputFile(path: path, below: root))
      }
    }
    return found
  }

  /// Returns whether `name` has the extension of an animation.
  private static func isAnimation(_ name: FilePath.Component) -> Bool {
    guard let word = name.extension?.lowercased() else { return false }
    return FormatTable.rows.contains { $0.fileExtensions.contains(word) }
  }

  private func listedNames() throws(CommandFailure) -> [ArraySlice<UInt8>] {
    guard let list else { return [] }
    let bytes: [UInt8]
    do {
      bytes = try Self.read(list)
    } catch {
      throw CommandFailure(
        .usage, code: "io", "cannot read the list of files: \(error)",
        file: list == "-" ? "standard input" : list)
    }
    guard bytes.count <= Self.listByteLimit else {
      throw CommandFailure(
        .limit, code: "limitExceeded",
        "the list of files is longer than \(Self.listByteLimit.byteSize)", file: list)
    }
    guard endsNamesWithNull || !bytes.contains(0) else {
      throw .usage(
        "\(list == "-" ? "standard input" : list) contains a null byte; if each name ends in one, as in the output of "
          + "find -print0, add -0")
    }
    let end: UInt8 = endsNamesWithNull ? 0 : 0x0a
    let names = bytes.split(separator: end)
    guard endsNamesWithNull else {
      // Lists from other systems end lines with CR LF.
      return names.map { $0.last == 0x0d ? $0.dropLast() : $0 }.filter { !$0.isEmpty }
    }
    return names
  }

  /// Returns the bytes of the list. If the list exceeds the limit, returns more bytes than the limit allows.
  private static func read(_ list: String) throws -> [UInt8] {
    guard list != "-" else { return try FileDescriptor.standardInput.readAll(limit: listByteLimit) }
    let path = FilePath(bytes: RawArguments.bytes(of: list))
    let file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec])
    return try file.closeAfter { try file.readAll(limit: listByteLimit) }
  }
}

extension FileDescriptor {
  /// Reads all bytes that are left, but stops once there are more than `limit`.
  package func readAll(limit: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= limit {
      let count = try read(into: &block)
      if count == 0 { break }
      bytes += block[..<count]
    }
    return bytes
  }
}
