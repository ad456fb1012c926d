import SystemPackage

/// Where `-o` sends the frames.
enum OutputDestination: Hashable, Sendable {
  /// One after another to standard output.
  case standardOutput
  /// Each to a file of its own.
  case files(OutputTemplate)

  /// Reads the argument of `-o`.
  ///
  /// `-` is standard output. Text with places in it is a template. A directory, or a name that ends
  /// in a slash or has no extension, is a directory, in which files are called
  /// `{stem}-{index:04}.{ext}`. Anything else names one file.
  init(
    parsing argument: [UInt8], isDirectory: ([UInt8]) -> Bool
  ) throws(CommandFailure) {
    guard !argument.isEmpty else { throw .usage("the output name is empty") }
    guard argument != [UInt8(ascii: "-")] else {
      self = .standardOutput
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
    let directory = argument.last == slash ? argument : argument + [slash]
    self = .files(
      OutputTemplate(tokens: [
        .text(directory), .stem, .text(Array("-".utf8)), .index(width: 4),
        .text(Array(".".utf8)), .fileExtension,
      ]))
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
