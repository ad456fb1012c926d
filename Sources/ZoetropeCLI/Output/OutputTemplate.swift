import ArgumentParser
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// A template for output names, with placeholders for the frame's number and times.
///
/// `{name}` `{stem}` `{index}` `{time_ms}` `{delay_ms}` `{ext}`, numbers also with a width as in
/// `{index:04}`, and `%d` or `%04d` for the index, as ffmpeg and ImageMagick have it; `{{` and `%%`
/// stand for themselves.
struct OutputTemplate: Hashable, Sendable {
  enum Token: Hashable, Sendable {
    case text([UInt8])
    /// The input's name with its extension.
    case name
    case stem
    case index(width: Int)
    case time(width: Int)
    case delay(width: Int)
    case fileExtension
  }

  /// The values of the placeholders for one frame.
  struct Values {
    var name: [UInt8]
    var stem: [UInt8]
    /// Nil for the static image, which is called `static` in names.
    var index: Int?
    var timeMilliseconds: Int
    var delayMilliseconds: Int
    var fileExtension: String
  }

  let tokens: [Token]

  init(tokens: [Token]) { self.tokens = tokens }

  /// Whether two files can have different names.
  var tellsFilesApart: Bool { tokens.contains(.stem) || hasName }

  /// Whether two files can have different names of which only the extensions differ.
  var hasName: Bool { tokens.contains(.name) }

  /// Whether every frame of a file has another name.
  var hasIndex: Bool { tokens.contains { if case .index = $0 { true } else { false } } }

  /// Whether it has any placeholder.
  var hasTokens: Bool { tokens.contains { if case .text = $0 { false } else { true } } }

  /// The name for `values`.
  func name(_ values: Values) -> [UInt8] {
    tokens.flatMap { token -> [UInt8] in
      switch token {
      case .text(let bytes): bytes
      case .name: values.name
      case .stem: values.stem
      case .index(let width):
        // A word is not padded.
        values.index.map { Self.padded(String($0), width) } ?? Array("static".utf8)
      case .time(let width): Self.padded(String(values.timeMilliseconds), width)
      case .delay(let width): Self.padded(String(values.delayMilliseconds), width)
      case .fileExtension: Array(values.fileExtension.utf8)
      }
    }
  }
}

extension OutputTemplate {
  private static func padded(_ text: String, _ width: Int) -> [UInt8] {
    Array(text.paddedLeft(to: width, with: "0").utf8)
  }

  /// - Throws: A usage failure that names the unknown placeholder.
  init(parsing bytes: [UInt8]) throws(CommandFailure) {
    var tokens: [Token] = []
    var text: [UInt8] = []
    func flush() {
      if !text.isEmpty { tokens.append(.text(text)) }
      text = []
    }
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "%"):
        if rest.first == byte {
          text.append(byte)
          rest.removeFirst()
          continue
        }
        flush()
        tokens.append(byte == UInt8(ascii: "{") ? try Self.place(&rest) : try Self.number(&rest))
      case UInt8(ascii: "}"):
        if rest.first == byte { rest.removeFirst() }
        text.append(byte)
      default: text.append(byte)
      }
    }
    flush()
    self.init(tokens: tokens)
  }

  private static func place(_ rest: inout ArraySlice<UInt8>) throws(CommandFailure) -> Token {
    guard let end = rest.firstIndex(of: UInt8(ascii: "}")) else {
      throw .usage("a { in the output name has no }; {{ stands for a plain {")
    }
    let name = String(decoding: rest[..<end], as: UTF8.self)
    rest = rest[(end + 1)...]
    let parts = name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let width: Int? = parts.count > 1 ? UInt8(parts[1]).map { Int($0) } : 0
    switch (parts[0], width) {
    case ("name", 0?) where parts.count == 1: return .name
    case ("stem", 0?) where parts.count == 1: return .stem
    case ("ext", 0?) where parts.count == 1: return .fileExtension
    case ("index", let width?) where width <= 20: return .index(width: width)
    case ("time_ms", let width?) where width <= 20: return .time(width: width)
    case ("delay_ms", let width?) where width <= 20: return .delay(width: width)
    default:
      throw .usage(
        "{\(name)} is not known in an output name; there are {name} {stem} {index} {time_ms} "
          + "{delay_ms} {ext}, and numbers take a width as in {index:04}")
    }
  }

  private static func number(_ rest: inout ArraySlice<UInt8>) throws(CommandFailure) -> Token {
    let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    rest = rest[digits.endIndex...]
    let width = digits.isEmpty ? 0 : Int(String(decoding: digits, as: UTF8.self)) ?? 99
    guard rest.popFirst() == UInt8(ascii: "d"), width <= 20 else {
      throw .usage("only %d or %04d may follow a % in an output name; %% stands for a plain %")
    }
    return .index(width: width)
  }
}

extension OutputTemplate.Values {
  /// The values for frame `index` of `image`, or for its static image, with times under `policy`.
  init(
    input: InputFile, index: Int?, of image: AnimatedImage, policy: DelayPolicy,
    format: OutputFormat
  ) {
    let starts = index.map { _ in image.startTimes(policy: policy).map(Self.milliseconds) }
    self.init(
      name: input.fullStem, stem: input.stem, index: index,
      starts: starts ?? [], fileExtension: format.rawValue)
  }

  /// The values for frame `index`; `starts` are the times at which frames start, and the end.
  init(name: [UInt8], stem: [UInt8], index: Int?, starts: [Int], fileExtension: String) {
    self.init(
      name: name, stem: stem, index: index, timeMilliseconds: index.map { starts[$0] } ?? 0,
      delayMilliseconds: index.map { starts[$0 + 1] - starts[$0] } ?? 0,
      fileExtension: fileExtension)
  }

  /// Whole milliseconds, rounded down.
  static func milliseconds(_ time: Duration) -> Int { Decimal(time).thousandths / 1000 }
}

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
  /// `-` is standard output, and an existing pipe or device is a stream. Text with placeholders is a
  /// template. An existing directory, or a name that ends in a slash or has no extension, is a
  /// directory, in which files are called `{stem}-{index:04}.{ext}`. Anything else names one file.
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
  /// The default names of files in `directory`.
  static func files(inDirectory directory: [UInt8]) -> OutputTemplate {
    let slash = UInt8(ascii: "/")
    return OutputTemplate(tokens: [
      .text(directory.last == slash ? directory : directory + [slash]), .stem,
      .text(Array("-".utf8)), .index(width: 4), .text(Array(".".utf8)), .fileExtension,
    ])
  }
}

/// Checks the extension of an output's name against the format.
enum FileEnding {
  /// Extensions of formats that the tool does not write.
  private static let others: Set<String> = [
    "avi", "avif", "bmp", "gif", "heic", "ico", "jpe", "jpeg", "jpg", "jxl", "m4v", "mkv", "mov",
    "mp4", "pdf", "ppm", "svg", "tga", "tif", "tiff", "webm", "webp",
  ]

  /// Refuses names with the extension of another format, which programs would fail to open.
  static func check(_ template: OutputTemplate, _ format: OutputFormat) throws(CommandFailure) {
    guard case .text(let bytes)? = template.tokens.last,
      let dot = bytes.lastIndex(of: UInt8(ascii: "."))
    else { return }
    let ending = String(decoding: bytes[(dot + 1)...], as: UTF8.self)
    let isWrong =
      others.contains(ending.lowercased())
      || format == .rgba && ["png", "apng"].contains(ending.lowercased())
    guard isWrong else { return }
    let content = format == .png ? "PNG" : "raw pixels"
    throw .usage("the output is \(content), and its name ends in .\(ending)")
  }
}

/// How a frame is written.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case png, rgba
}
