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

  /// For names of outputs.
  var stem: [UInt8] { path.map { FileStem.of($0.bytes) } ?? Array("stdin".utf8) }

  /// Opens the image. A pipe or device is read to its end first.
  func open(_ options: DecodingOptions) throws(CommandFailure) -> AnimatedImage {
    do throws(AnimatedImageError) {
      guard let path else {
        return try AnimatedImage(bytes: StandardInput.readAll(), options: options)
      }
      if OutputFile.isPipe(path) {
        return try AnimatedImage(bytes: Self.readPipe(path), options: options)
      }
      return try AnimatedImage(contentsOf: path, options: options)
    } catch {
      throw CommandFailure(error, file: name, damage: options.damage)
    }
  }

  private static func readPipe(_ path: FilePath) throws(AnimatedImageError) -> [UInt8] {
    let descriptor: FileDescriptor
    do {
      descriptor = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec])
    } catch {
      throw AnimatedImageError(.io, "\(error)")
    }
    defer { try? descriptor.close() }
    return try StandardInput.readAll(from: descriptor)
  }
}
