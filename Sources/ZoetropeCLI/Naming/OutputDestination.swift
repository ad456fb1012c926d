import SystemPackage

/// Where `-o` sends the frames.
enum OutputDestination: Hashable, Sendable {
  /// One after another to standard output.
  case standardOutput
  /// One after another to a pipe or device.
  case stream(FilePath)
  /// Each to a file of its own.
  case files(OutputTemplate)

  /// Whether frames go out one after another.
  var isStream: Bool { if case .files = self { false } else { true } }

  /// Reads the argument of `-o`.
  ///
  /// `-` is standard output; what is there and is no file is written one frame after another. Text
  /// with places in it is a template. A directory, or a name that ends
  /// in a slash or has no extension, is a directory, in which files are called
  /// `{stem}-{index:04}.{ext}`. Anything else names one file.
  init(
    parsing argument: [UInt8], isDirectory: ([UInt8]) -> Bool,
    isStream: ([UInt8]) -> Bool = { _ in false }
  ) throws(CommandFailure) {
    guard !argument.isEmpty else { throw .usage("the output name is empty") }
    guard argument != [UInt8(ascii: "-")] else {
      self = .standardOutput
      return
    }
    guard !isStream(argument) else {
      self = .stream(FilePath(bytes: argument))
      return
    }
    let slash = UInt8(ascii: "/")
    let exists = isDirectory(argument)
    if !exists {
      let template = try OutputTemplate(parsing: argument)
      let last = argument.split(separator: slash).last ?? []
      let isName = argument.last != slash && last.dropFirst().contains(UInt8(ascii: "."))
      if template.hasTokens || isName {
        self = .files(template)
        return
      }
    }
    self = .files(.files(inDirectory: argument))
  }
}

extension OutputTemplate {
  /// What files in `directory` are called where nobody says otherwise.
  static func files(inDirectory directory: [UInt8]) -> OutputTemplate {
    let slash = UInt8(ascii: "/")
    return OutputTemplate(tokens: [
      .text(directory.last == slash ? directory : directory + [slash]), .stem,
      .text(Array("-".utf8)), .index(width: 4), .text(Array(".".utf8)), .fileExtension,
    ])
  }
}

extension FilePath {
  /// A path of exactly these bytes, whatever their encoding.
  init(bytes: [UInt8]) {
    let characters: [CInterop.PlatformChar] = bytes.map { CInterop.PlatformChar(bitPattern: $0) }
    // The array ends in a NUL, and the initializer copies it.
    self.init(platformString: characters + [0])
  }

  /// The bytes of the path.
  var bytes: [UInt8] {
    unsafe withPlatformString { pointer in
      // The string ends at its NUL; the pointer is valid within the closure.
      unsafe Array(UnsafeBufferPointer(start: pointer, count: length)).map {
        UInt8(bitPattern: $0)
      }
    }
  }
}
