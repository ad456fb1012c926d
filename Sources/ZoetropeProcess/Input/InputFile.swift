internal import Synchronization
package import SystemPackage
package import Zoetrope

/// An input of a command: a file that an argument or a list names, or that was found in a directory.
package struct InputFile: Hashable {
  /// The name as given, for messages, with invalid UTF-8 replaced.
  package let name: String
  /// The path of the file, or nil for `-`, standard input.
  package let path: FilePath?
  /// The directory argument below which the file was found, or nil if the file itself was named.
  private var root: FilePath?
  /// The name of the list with which the command's inputs were given, or nil if there was no list. Outputs must not
  /// overwrite the list; see ``InputIdentities``.
  package var list: String?

  /// Creates the input that `argument` names. The path is taken from the process's own argument list, because the
  /// argument parser replaces invalid UTF-8.
  package init(_ argument: String) {
    name = argument == "-" ? "standard input" : argument
    path = argument == "-" ? nil : FilePath(bytes: RawArguments.bytes(of: argument))
  }

  /// Creates an input that no argument names. Its path, `path`, comes from a list of files, or was found below the
  /// directory `root`.
  package init(path: FilePath, below root: FilePath? = nil) {
    name = RawArguments.text(ofFound: path.bytes)
    self.path = path
    self.root = root
  }

  /// The name as given, for JSON.
  package var fileName: FileName { path.map { FileName($0) } ?? FileName(Array(name.utf8)) }

  /// Whether the input can be read only once, because it is standard input, a pipe or a device.
  package var isReadOnce: Bool { path.map { FileStatus(at: $0)?.isPipe ?? false } ?? true }

  /// The input's name without its directories, for messages.
  package var shortName: String { path?.lastComponent?.string ?? name }

  /// The input's name without directories and extension, for names of outputs.
  package var stem: [UInt8] { path.map { FileStem.of($0.bytes) } ?? Array("stdin".utf8) }

  /// The input's name without directories, but with its extension, for names of outputs.
  package var fullStem: [UInt8] {
    path.map { FileStem.of($0.bytes, keepingExtension: true) } ?? Array("stdin".utf8)
  }

  /// The input's directory, for names of outputs. It is relative to the directory argument below which the input was
  /// found. If there is no such argument, it is the directory in the path that the user gave. It never leads out of the
  /// output's directory.
  package var directory: [UInt8] {
    guard var path else { return [UInt8(ascii: ".")] }
    if let root { _ = path.removePrefix(root) }
    let names = path.removingLastComponent().components.filter { $0.kind != .currentDirectory }
      .map { FileStem.of(FilePath(root: nil, [$0]).bytes, keepingExtension: true) }
    return names.isEmpty
      ? [UInt8(ascii: ".")] : Array(names.joined(separator: [UInt8(ascii: "/")]))
  }

  /// Whether the file was found in a subdirectory of a directory argument.
  package var isBelowRoot: Bool { root != nil && directory != [UInt8(ascii: ".")] }

  /// The name of the directory that contains the input, for names of outputs.
  package var parent: [UInt8] {
    let directory = path?.removingLastComponent() ?? ""
    if let last = directory.components.last, last.kind == .regular {
      return FileStem.of(FilePath(root: nil, [last]).bytes, keepingExtension: true)
    }
    let isHere =
      directory.components.allSatisfy { $0.kind == .currentDirectory } && !directory.isAbsolute
    let here = isHere ? FileSystem.destination(ofLink: "/proc/self/cwd") : nil
    return FileStem.of(here?.bytes ?? [], keepingExtension: true)
  }

  /// Opens the image. Reads standard input, a pipe or a device to its end first, unless a signal interrupts that.
  ///
  /// Blocks until such an input has been read, or until the file system has answered for a file. Commands call this
  /// method without catching signals (see ``Signals``). The player, which must react to keys, uses ``InputOpening``.
  ///
  /// - Parameters:
  ///   - store: The store that recognises files which were opened before, so that these are not scanned again.
  ///   - isAbandoned: A closure that is called ten times a second while a pipe has no data. It returns true to give up.
  package func open(
    _ options: DecodingOptions, knownTo store: FrameStore? = nil,
    isAbandoned: () -> Bool = { false }
  ) throws(CommandFailure) -> AnimatedImage {
    do throws(AnimatedImageError) {
      guard let path else {
        return try AnimatedImage(
          bytes: Self.readAll(options, isAbandoned: isAbandoned), options: options)
      }
      if isReadOnce {
        return try AnimatedImage(
          bytes: Self.readPipe(path, options, isAbandoned: isAbandoned), options: options)
      }
      if FileStatus(at: path)?.isDirectory ?? false {
        throw AnimatedImageError(.io, Self.reasonAgainstDirectory(path), systemError: .isDirectory)
      }
      let source = try FileSource(path: path)
      guard let store else { return try AnimatedImage(source: source, options: options) }
      return try AnimatedImage(source: source, options: options, knownTo: store)
    } catch {
      if let failure = CommandFailure.interruption(file: name) { throw failure }
      throw CommandFailure(error, file: name, damage: options.damage)
    }
  }

  /// Returns the reason why the directory at `path` yielded no inputs.
  private static func reasonAgainstDirectory(_ path: FilePath) -> String {
    do throws(Errno) {
      _ = try FileSystem.entries(of: path)
      return "no GIF or PNG files in this directory; -r also searches its subdirectories"
    } catch {
      return "\(error)"
    }
  }

  /// Reads all bytes of a pipe. The bytes are kept in memory, so the memory limit applies.
  private static func readAll(
    _ options: DecodingOptions, from descriptor: FileDescriptor = .standardInput,
    isAbandoned: () -> Bool
  ) throws(AnimatedImageError) -> [UInt8] {
    try StandardInput.readAll(from: descriptor, byteLimit: options.limits.liveBytes) {
      isAbandoned() || Signals.ending != nil
    }
  }

  private static func readPipe(
    _ path: FilePath, _ options: DecodingOptions, isAbandoned: () -> Bool
  ) throws(AnimatedImageError) -> [UInt8] {
    let descriptor = try FileDescriptor.opened(withoutWaiting: path)
    defer { try? descriptor.close() }
    return try readAll(options, from: descriptor, isAbandoned: isAbandoned)
  }
}

extension FileDescriptor {
  /// Opens the file, pipe or device at `path` without waiting for a writer. `poll` waits instead, because a signal can
  /// interrupt it.
  static func opened(withoutWaiting path: FilePath) throws(AnimatedImageError) -> FileDescriptor {
    do {
      return try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
    } catch {
      throw AnimatedImageError(.io, "\(error)", systemError: error as? Errno)
    }
  }
}

/// Makes the part of an output's name that comes from the name of its input.
package enum FileStem {
  /// Returns the last component of `path`, by default without its extension, in a form that is safe in file names.
  ///
  /// The result can neither lead out of a directory nor control a terminal. NUL and other control bytes become `_`, and
  /// a name that consists only of dots, which would be a directory, becomes `_` as a whole. Bytes above ASCII are kept,
  /// whatever their encoding. The result has at most 200 bytes. A longer name is cut, but not in the middle of a UTF-8
  /// character, and not in its extension if `keepingExtension`.
  package static func of(_ path: [UInt8], keepingExtension: Bool = false) -> [UInt8] {
    var name = path.split(separator: UInt8(ascii: "/")).last.map(Array.init) ?? []
    if !keepingExtension, let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0 {
      name.removeSubrange(dot...)
    }
    for index in name.indices where name[index] < 0x20 || name[index] == 0x7f { name[index] = 0x5f }
    if name.allSatisfy({ $0 == UInt8(ascii: ".") }) { return [UInt8(ascii: "_")] }
    // File systems allow 255 bytes for a name, some of which are needed for numbers and the extension.
    let limit = 200
    guard name.count > limit else { return name }
    var ending: ArraySlice<UInt8> = []
    // Text after a dot that is longer than any extension belongs to the rest of the name.
    if keepingExtension, let dot = name.suffix(16).lastIndex(of: UInt8(ascii: ".")) {
      ending = name[dot...]
    }
    return Array(cut(name, to: limit - ending.count) + ending)
  }

  /// Returns the first bytes of `name`, at most `count`, without a part of a UTF-8 character at the end. `name` must
  /// have more bytes than that.
  private static func cut(_ name: [UInt8], to count: Int) -> ArraySlice<UInt8> {
    // In UTF-8, at most three bytes of a character follow its first one.
    let end = (count - 3...count).last { name[$0] & 0xc0 != 0x80 }
    return name[..<(end ?? count)]
  }
}

extension CommandFailure {
  /// Writes the failure as an object of the schema `schema`, in place of the report about `input`.
  package func write(to json: inout JSONWriter, schema: String, of input: InputFile) {
    json.object {
      $0.field("schema", schema)
      // The text of a name may not be enough to find its bytes.
      $0.field("file", file == nil ? nil : input.fileName, base64Key: "file_base64")
      $0.field("status", InputCondition(self).rawValue)
      writeError(to: &$0)
    }
  }
}
