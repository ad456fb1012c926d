import ArgumentParser
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The order in which `make` reads files.
enum FrameOrder: String, ExpressibleByArgument, CaseIterable, Sendable {
  case natural, given
}

/// The pictures that `make` reads, and the manifest that describes them, if there is one.
struct FrameFiles {
  enum Source: Hashable {
    case file(InputFile)
    /// One of several pictures that follow one another on standard input.
    case bytes([UInt8], place: Int)

    /// The name of the source in error messages.
    var name: String {
      switch self {
      case .file(let input): input.name
      case .bytes(_, let place): "standard input, picture \(place)"
      }
    }
  }

  /// The sources of the pictures, in the order of the frames.
  private(set) var sources: [Source] = []
  /// Whether sorting changed the order of the files from the order in which they were named.
  private(set) var isSorted = false
  /// The manifest, or nil if there is none.
  private(set) var manifest: FrameManifest?
  /// The files that are read, which must not be overwritten.
  private(set) var inputs: [InputFile] = []

  /// Finds the files that `names` refers to: pictures, directories of `.png` files, one manifest, or `-`.
  init(
    _ names: InputList, order: FrameOrder, _ options: DecodingOptions
  ) throws(CommandFailure) {
    var files: [InputFile] = []
    for input in try names.named() {
      if let path = input.path, OutputFile.isDirectory(path) {
        let found = try Self.pictures(in: path)
        guard !found.isEmpty else { throw .usage("\(input.name) has no .png files") }
        files += found
      } else {
        files.append(input)
      }
    }
    if let pipe = files.first(where: { $0.path != nil && $0.isReadOnce }) {
      throw .usage(
        "\(pipe.name) is a pipe, but pictures are read twice; name files, or send the pictures one after the "
          + "other through standard input, as in cat *.png | zoetrope make -")
    }
    inputs = files
    if files.contains(where: { $0.path == nil }) {
      guard files.count == 1 else {
        throw .usage("standard input cannot be combined with other files")
      }
      sources = try Self.pictures(inStandardInput: options.limits)
      return
    }
    if let list = files.first(where: { $0.path.map(ManifestLines.isManifest) ?? false }),
      let path = list.path
    {
      guard files.count == 1 else {
        throw .usage(
          "\(list.name) is a manifest, which names all frames; "
            + "it cannot be combined with other files")
      }
      let bytes = try Self.contents(of: path, name: list.name)
      let manifest = try FrameManifest(parsing: bytes, name: list.name)
      self.manifest = manifest
      let pictures = manifest.frames.map { InputFile(path: $0.path) }
      inputs += Set(pictures)
      if let poster = manifest.poster { inputs.append(InputFile(path: poster)) }
      sources = pictures.map { .file($0) }
      return
    }
    if order == .natural {
      let given = files.map(\.path)
      files.sort { NaturalOrder.isOrdered($0.path?.bytes ?? [], $1.path?.bytes ?? []) }
      isSorted = files.map(\.path) != given
    }
    sources = files.map { .file($0) }
  }

  private static func pictures(in directory: FilePath) throws(CommandFailure) -> [InputFile] {
    let names: [[UInt8]]
    do throws(Errno) {
      names = try FileSystem.entries(of: directory).filter { name in
        name.first != UInt8(ascii: ".")
          && String(decoding: name.suffix(4), as: UTF8.self).lowercased() == ".png"
      }
    } catch {
      throw CommandFailure(
        .undecodable, code: "io", "cannot read the directory: \(error)", file: "\(directory)")
    }
    let start =
      directory.bytes + (directory.bytes.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")])
    return names.sorted(by: NaturalOrder.isOrdered).map {
      InputFile(path: FilePath(bytes: start + $0))
    }
  }

  /// Returns all bytes of a manifest or a list of delays.
  static func contents(of path: FilePath, name: String) throws(CommandFailure) -> [UInt8] {
    do {
      let file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec])
      defer { try? file.close() }
      return try StandardInput.readAll(
        from: file, byteLimit: listLimit, shouldStop: { Signals.ending != nil },
        checkingStart: { (_) throws(AnimatedImageError) in })
    } catch let error as AnimatedImageError {
      throw CommandFailure(error, file: name, damage: .salvage)
    } catch {
      throw CommandFailure(.undecodable, code: "io", "\(error)", file: name)
    }
  }

  /// The maximum number of bytes of a manifest or a list of delays.
  private static let listLimit = 256 << 20

  private static func pictures(inStandardInput limits: DecodingLimits) throws(CommandFailure)
    -> [Source]
  {
    do throws(AnimatedImageError) {
      let bytes = try StandardInput.readAll(from: .standardInput, byteLimit: limits.liveBytes) {
        Signals.ending != nil
      }
      return PNGSequence.pictures(in: bytes).enumerated().map { .bytes(Array($1), place: $0) }
    } catch {
      if let failure = CommandFailure.interruption(file: "standard input") { throw failure }
      throw CommandFailure(error, file: "standard input", damage: .salvage)
    }
  }
}

/// A sequence of concatenated PNG files, as `extract -o -` writes them.
enum PNGSequence {
  /// Returns the bytes of each picture. Bytes after the last complete picture count as a picture, so that they are
  /// reported as an error.
  static func pictures(in bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    var pictures: [ArraySlice<UInt8>] = []
    var start = 0
    while start < bytes.count {
      let end = end(ofPictureAt: start, in: bytes)
      pictures.append(bytes[start..<end])
      start = end
    }
    return pictures
  }

  /// Returns the index at which the IEND chunk of a picture ends. A picture consists of a signature of 8 bytes,
  /// followed by chunks of 12 bytes plus their data.
  private static func end(ofPictureAt start: Int, in bytes: [UInt8]) -> Int {
    var place = start + 8
    while place + 12 <= bytes.count {
      let count = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      let isEnd = bytes[place + 4..<place + 8].elementsEqual("IEND".utf8)
      // Each chunk has at most about 4 GiB, so the sum does not overflow.
      place += 12 + count
      if isEnd { return min(place, bytes.count) }
    }
    return bytes.count
  }
}
