import SystemPackage
import Zoetrope

/// One FILE of the command line.
struct InputFile: Hashable {
  /// As it was given, for messages; bytes that are no UTF-8 are replaced.
  let name: String
  /// Nil for `-`, standard input.
  let path: FilePath?

  /// The input that `argument` names. Arguments whose bytes are no UTF-8 reach the parser repaired;
  /// the process's own argument list has the bytes that open the file.
  init(_ argument: String) {
    name = argument == "-" ? "standard input" : argument
    path = argument == "-" ? nil : FilePath(bytes: RawArguments.bytes(of: argument))
  }

  /// As it was given, for JSON.
  var fileName: FileName { path.map { FileName($0) } ?? FileName(Array(name.utf8)) }

  /// Whether it can be read only once: standard input, a pipe or a device.
  var isReadOnce: Bool { path.map(OutputFile.isPipe) ?? true }

  /// The name without the directories.
  var shortName: String { path?.lastComponent?.string ?? name }

  /// For names of outputs.
  var stem: [UInt8] { path.map { FileStem.of($0.bytes) } ?? Array("stdin".utf8) }

  /// The stem and the extension, for names of outputs.
  var fullStem: [UInt8] {
    path.map { FileStem.of($0.bytes, keepingExtension: true) } ?? Array("stdin".utf8)
  }

  /// Opens the image. A pipe or device is read to its end first, unless a signal asks for the end.
  ///
  /// This blocks until the input has been read or a file system has answered. Commands that do not
  /// catch signals meanwhile call it as it is (see ``SignalFlag``); the player, which answers keys,
  /// uses ``InputOpening``.
  ///
  /// - Parameter isAbandoned: Asked ten times a second while a pipe gives nothing: whether to give up.
  func open(
    _ options: DecodingOptions, isAbandoned: () -> Bool = { false }
  ) throws(CommandFailure) -> AnimatedImage {
    do throws(AnimatedImageError) {
      guard let path else {
        return try AnimatedImage(
          bytes: Self.readAll(options, isAbandoned: isAbandoned), options: options)
      }
      if OutputFile.isPipe(path) {
        return try AnimatedImage(
          bytes: Self.readPipe(path, options, isAbandoned: isAbandoned), options: options)
      }
      return try AnimatedImage(source: FileSource(path: path), options: options)
    } catch {
      if let status = Self.stop {
        throw CommandFailure(status, code: "interrupted", "interrupted", file: name)
      }
      throw CommandFailure(error, file: name, damage: options.damage)
    }
  }

  /// What a signal asks for, whoever catches signals now.
  private static var stop: ExitStatus? { SignalFlag.status ?? WakePipe.ending }

  /// All bytes of a pipe: they are held, so the limit on memory counts for them.
  private static func readAll(
    _ options: DecodingOptions, from descriptor: FileDescriptor = .standardInput,
    isAbandoned: () -> Bool
  ) throws(AnimatedImageError) -> [UInt8] {
    try StandardInput.readAll(from: descriptor, byteLimit: options.limits.liveBytes) {
      isAbandoned() || stop != nil
    }
  }

  private static func readPipe(
    _ path: FilePath, _ options: DecodingOptions, isAbandoned: () -> Bool
  ) throws(AnimatedImageError) -> [UInt8] {
    let descriptor: FileDescriptor
    do {
      // Opened without waiting for a writer, which `poll` waits for instead, and can stop doing.
      descriptor = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
    } catch {
      throw AnimatedImageError(.io, (error as? Errno).map { "\($0)" } ?? "\(error)")
    }
    defer { try? descriptor.close() }
    return try readAll(options, from: descriptor, isAbandoned: isAbandoned)
  }
}
