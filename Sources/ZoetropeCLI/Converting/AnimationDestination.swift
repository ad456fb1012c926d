import ArgumentParser
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// A format in which animations are written.
enum AnimationFormatChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
  case gif, apng

  var format: AnimationFormat { self == .gif ? .gif : .apng }

  /// The extension of its files: sites and viewers know APNG by that of PNG.
  var fileExtension: String { self == .gif ? "gif" : "png" }

  /// The format of files whose names end in `word`.
  init?(extension word: String) {
    switch word {
    case "gif": self = .gif
    case "png", "apng": self = .apng
    default: return nil
    }
  }
}

/// Where a command writes animations: a file for each, or a pipe or device for one.
struct AnimationDestination: Hashable {
  enum Place: Hashable {
    /// Standard output when nil.
    case stream(FilePath?)
    case file(FilePath)
  }

  /// The places of the outputs, in the order of the inputs.
  private(set) var places: [Place]
  /// Nil if the output is to have the format of its input.
  let format: AnimationFormatChoice?

  /// The name of an output in messages and reports.
  func name(of place: Int) -> FileName {
    switch places[place] {
    case .stream(nil): FileName(Array("standard output".utf8))
    case .stream(let path?), .file(let path): FileName(path)
    }
  }

  /// The output of each of `inputs`: what `argument` names if it is a file, a pipe, a device or `-`; else a file in
  /// that directory, or called as the template says.
  ///
  /// Nothing has been opened, and every name is known: no output needs the frames of its input for it.
  ///
  /// - Parameter keepsFormat: Whether outputs have the formats of their inputs, and in a directory their names.
  init(
    _ argument: String, for inputs: [InputFile], format: AnimationFormatChoice? = nil,
    keepsFormat: Bool = false
  ) throws(CommandFailure) {
    let bytes = RawArguments.bytes(of: argument)
    guard !bytes.isEmpty else { throw .usage("the output name is empty") }
    if let stream = Self.stream(bytes) {
      guard inputs.count == 1 else {
        throw .usage(
          "a stream holds one animation; put {stem} into the output name, or name a directory")
      }
      (places, self.format) = ([stream], format)
      return
    }
    var template: OutputTemplate
    if bytes.last == UInt8(ascii: "/") || OutputFile.isDirectory(FilePath(bytes: bytes)) {
      let slash: [UInt8] = bytes.last == UInt8(ascii: "/") ? [] : Array("/".utf8)
      template = OutputTemplate(
        tokens: [.text(bytes + slash)]
          + (keepsFormat ? [.name] : [.stem, .text(Array(".".utf8)), .fileExtension]))
    } else {
      template = try OutputTemplate(parsing: bytes)
    }
    guard !template.tellsFramesApart else {
      throw .usage("one file holds all frames: no {index}, {time_ms} or {delay_ms} in its name")
    }
    let choice = keepsFormat ? nil : try Self.format(of: template, format)
    try template.checkNames(of: inputs, example: "DIR/{name}.{ext}")
    self.format = choice
    places = inputs.map { input in
      .file(
        FilePath(
          bytes: template.name(
            OutputTemplate.Values(
              name: input.fullStem, stem: input.stem, index: nil, lastIndex: nil,
              timeMilliseconds: 0, delayMilliseconds: 0,
              fileExtension: choice?.fileExtension ?? input.path?.extension ?? "gif"))))
    }
  }

  /// The one output that `argument` names, without placeholders.
  init(_ argument: String, format: AnimationFormatChoice?) throws(CommandFailure) {
    let bytes = RawArguments.bytes(of: argument)
    guard !bytes.isEmpty else { throw .usage("the output name is empty") }
    if let stream = Self.stream(bytes) {
      (places, self.format) = ([stream], format)
      return
    }
    let path = FilePath(bytes: bytes)
    guard bytes.last != UInt8(ascii: "/"), !OutputFile.isDirectory(path) else {
      throw .usage("\(path) is a directory; name a file")
    }
    self.format = try Self.format(of: OutputTemplate(tokens: [.text(bytes)]), format)
    places = [.file(path)]
  }

  private static func stream(_ bytes: [UInt8]) -> Place? {
    if bytes == [UInt8(ascii: "-")] { return .stream(nil) }
    let path = FilePath(bytes: bytes)
    return OutputStream.isNeeded(for: path) ? .stream(path) : nil
  }

  /// The format of files called as `template` says: `choice`, which the extension must not contradict, else what
  /// the extension stands for.
  private static func format(
    of template: OutputTemplate, _ choice: AnimationFormatChoice?
  ) throws(CommandFailure) -> AnimationFormatChoice {
    guard case .text(let text)? = template.tokens.last,
      let name = text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last,
      let dot = name.lastIndex(of: UInt8(ascii: "."))
    else {
      if let choice { return choice }
      throw .usage("the output's name tells no format; --format gif or --format apng chooses one")
    }
    let ending = String(decoding: name[(dot + 1)...], as: UTF8.self)
    let known = AnimationFormatChoice(extension: ending.lowercased())
    guard let choice else {
      if let known { return known }
      throw .usage(
        "the output's name ends in .\(ending), and what is written is GIF (.gif) or APNG (.png, .apng); "
          + "--format chooses one for another name")
    }
    if let known, known != choice {
      throw .usage("the output is \(choice.rawValue.uppercased()), and its name ends in .\(ending)")
    }
    return choice
  }

  /// Refuses to write `format` to a file whose name says that it has another one.
  func check(_ place: Int, holds format: AnimationFormat) throws(CommandFailure) {
    guard case .file(let path) = places[place], let ending = path.extension else { return }
    let isGIF = format == .gif
    guard let known = AnimationFormatChoice(extension: ending.lowercased()),
      (known == .gif) != isGIF
    else { return }
    throw .usage("the output is \(isGIF ? "GIF" : "PNG"), and its name ends in .\(ending)")
  }

  /// Refuses to write over a file that is read, or one that is there without `isForced`, or twice to one name.
  ///
  /// An animation may take the place of its own input, which is replaced once it is complete.
  func check(
    _ inputs: [InputFile], isInPlace: Bool, isForced: Bool
  ) throws(CommandFailure) {
    let identities = InputIdentities(inputs)
    var names = OutputNames()
    for (number, place) in places.enumerated() {
      switch place {
      case .stream(nil): try identities.check(.standardOutput)
      case .stream(let path?): try identities.check(path)
      case .file(let path):
        guard names.insert(path) else {
          throw .usage(
            "two outputs would be called \(path); put {stem} or {name} into the output name")
        }
        try identities.check(path, unless: isInPlace ? inputs[number] : nil)
        guard isForced || !OutputFile.isTaken(path) else {
          throw CommandFailure(
            .cannotWrite, code: "exists", "\(path) exists; --force replaces it")
        }
      }
    }
  }
}
