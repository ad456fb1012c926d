import ArgumentParser
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// A template for output names, with placeholders for the names of the input and for the number and times of the frame.
///
/// The placeholders are `{name}` `{stem}` `{dir}` `{parent}` `{index}` `{start_ms}` `{shown_ms}` `{ext}`. The
/// placeholders for numbers accept a width, as in `{index:04}`; `%d` and `%04d` are the index, as in ffmpeg and
/// ImageMagick. `{{` and `%%` are a literal brace and a literal percent sign. `{index}` without a width has as many
/// digits as the number of the last frame, so that the names sort in frame order; `%d` has no leading zeros.
struct OutputTemplate: Hashable, Sendable {
  enum Token: Hashable, Sendable {
    case text([UInt8])
    /// The input's name with its extension.
    case name
    case stem
    /// The input's directory, relative to the directory argument below which it was found.
    case directory
    /// The name of the input's directory.
    case parent
    /// The index with at least `width` digits. If `isFitted`, it also has at least as many digits as the number of the
    /// last frame.
    case index(width: Int, isFitted: Bool)
    case time(width: Int)
    case delay(width: Int)
    case fileExtension
  }

  /// The values of the placeholders for one frame.
  struct Values {
    /// The input. Its names are computed only if the template uses them.
    var input: InputFile
    /// The index of the frame, or nil for the static image, whose index in names is `static`.
    var index: Int?
    /// The largest possible ``index``, or nil for a stream, whose length is unknown.
    var lastIndex: Int?
    var timeMilliseconds: Int
    var delayMilliseconds: Int
    var fileExtension: String

    /// The minimum number of digits of an index that is fitted.
    fileprivate var fittedWidth: Int {
      lastIndex.map { String($0).utf8.count } ?? Self.streamedWidth
    }

    /// The minimum number of digits of a fitted index in the names of a stream.
    private static let streamedWidth = 4
  }

  let tokens: [Token]

  init(tokens: [Token]) { self.tokens = tokens }

  /// Whether the template can give the outputs of different inputs different names.
  var tellsFilesApart: Bool {
    [Token.stem, .name, .directory, .parent].contains(where: tokens.contains)
  }

  /// The values of the placeholders that can differ between inputs. Two inputs with the same values have the same
  /// output names.
  private func fileKey(_ input: InputFile, keepsExtension: Bool = false) -> [[UInt8]] {
    tokens.compactMap { token in
      switch token {
      case .name: input.fullStem
      case .stem: input.stem
      case .directory: input.directory
      case .parent: input.parent
      case .fileExtension where keepsExtension: Array((input.path?.extension ?? "").utf8)
      default: nil
      }
    }
  }

  /// Whether the template contains the index, so that the name of every frame of an input is different.
  var hasIndex: Bool { tokens.contains { if case .index = $0 { true } else { false } } }

  /// Whether the template has any placeholder.
  var hasTokens: Bool { tokens.contains { if case .text = $0 { false } else { true } } }

  /// Returns the output name for `values`.
  func name(_ values: Values) -> [UInt8] {
    tokens.flatMap { token -> [UInt8] in
      switch token {
      case .text(let bytes): bytes
      case .name: values.input.fullStem
      case .stem: values.input.stem
      case .directory: values.input.directory
      case .parent: values.input.parent
      case .index(let width, let isFitted):
        // The word `static` is not padded.
        values.index.map {
          Self.padded(String($0), isFitted ? max(width, values.fittedWidth) : width)
        } ?? Array("static".utf8)
      case .time(let width): Self.padded(String(values.timeMilliseconds), width)
      case .delay(let width): Self.padded(String(values.delayMilliseconds), width)
      case .fileExtension: Array(values.fileExtension.utf8)
      }
    }
  }
}

extension OutputTemplate {
  /// Throws if the template gives the outputs of two inputs the same name. `example` is a template with `{name}` for
  /// the message, which adds what is needed for different names. `keepsExtension` says whether `{ext}` is the extension
  /// of each input, rather than the same for all outputs.
  func checkNames(
    of inputs: [InputFile], example: String, keepsExtension: Bool = false
  ) throws(CommandFailure) {
    guard inputs.count > 1 else { return }
    guard tellsFilesApart else {
      throw .usage("several files need a directory, or {stem} or {name} in the output name")
    }
    var names: [[[UInt8]]: InputFile] = [:]
    for input in inputs {
      let key = fileKey(input, keepsExtension: keepsExtension)
      guard let other = names.updateValue(input, forKey: key) else { continue }
      if input.path == other.path { throw .usage("\(input.name) is named twice; name it once") }
      let isSame = input.path.map { other.isFile(at: $0) } ?? false
      let advice =
        Self.advice(on: inputs, example: example)
        ?? (isSame
          ? "they are the same file, so name it once" : "run the command once for each of them")
      throw .usage(
        "\(other.name) and \(input.name) would have the same output names; \(advice)")
    }
  }

  /// Returns advice on output names that are different for all of `inputs`, or nil if no placeholder makes them so.
  private static func advice(on inputs: [InputFile], example: String) -> String? {
    let choices: [(fields: [Token], text: String, advice: String)] = [
      ([.name], "{name}", "use {name}, which includes the extension"),
      ([.directory, .name], "{dir}/{name}", "use {dir}, the input's directory"),
      ([.parent, .name], "{parent}/{name}", "use {parent}, the name of the input's directory"),
    ]
    let choice = choices.first { choice in
      let template = OutputTemplate(tokens: choice.fields)
      return Set(inputs.map { template.fileKey($0) }).count == inputs.count
    }
    return choice.map {
      "\($0.advice), as in -o '\(example.replacing("{name}", with: $0.text))'"
    }
  }

  /// Returns the directory in which all outputs of `argument` lie. If `argument` does not name a directory, this is its
  /// part up to the last slash before any placeholder. Nil for standard output, and if there is no such slash.
  static func directory(of argument: String) -> FilePath? {
    let bytes = RawArguments.bytes(of: argument)
    let fixed = bytes.prefix { $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "%") }
    if fixed.count == bytes.count, OutputFile.isDirectory(FilePath(bytes: bytes)) {
      return FilePath(bytes: bytes)
    }
    return fixed.lastIndex(of: UInt8(ascii: "/")).map { FilePath(bytes: Array(fixed[...$0])) }
  }

  private static func padded(_ text: String, _ width: Int) -> [UInt8] {
    Array(text.paddedLeft(to: width, with: "0").utf8)
  }

  /// Parses a template.
  ///
  /// - Parameter isForFrames: Whether each frame is a file of its own, so that names may contain its index and times.
  /// - Throws: A usage failure that quotes the unknown placeholder or describes the unpaired brace or `%`.
  init(parsing bytes: [UInt8], isForFrames: Bool = true) throws(CommandFailure) {
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
        tokens.append(
          byte == UInt8(ascii: "{") ? try Self.place(&rest, isForFrames) : try Self.number(&rest))
      case UInt8(ascii: "}"):
        if rest.first == byte { rest.removeFirst() }
        text.append(byte)
      default: text.append(byte)
      }
    }
    flush()
    self.init(tokens: tokens)
  }

  private static func place(
    _ rest: inout ArraySlice<UInt8>, _ isForFrames: Bool
  ) throws(CommandFailure) -> Token {
    guard let end = rest.firstIndex(of: UInt8(ascii: "}")) else {
      throw .usage("a { in the output name has no }; write {{ for a literal {")
    }
    let name = String(decoding: rest[..<end], as: UTF8.self)
    rest = rest[(end + 1)...]
    let parts = name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let width: Int? = parts.count > 1 ? UInt8(parts[1]).map { Int($0) } : 0
    switch (parts[0], width) {
    case ("name", 0?) where parts.count == 1: return .name
    case ("stem", 0?) where parts.count == 1: return .stem
    case ("dir", 0?) where parts.count == 1: return .directory
    case ("parent", 0?) where parts.count == 1: return .parent
    case ("ext", 0?) where parts.count == 1: return .fileExtension
    case ("index", let width?) where width <= 20:
      return .index(width: width, isFitted: parts.count == 1)
    case ("start_ms", let width?) where width <= 20: return .time(width: width)
    case ("shown_ms", let width?) where width <= 20: return .delay(width: width)
    default:
      throw .usage(
        "unknown field {\(name)} in the output name; the fields are {name} {stem} {dir} {parent} "
          + (isForFrames
            ? "{index} {start_ms} {shown_ms} {ext}, and numbers take a width, as in {index:04}"
            : "{ext}"))
    }
  }

  private static func number(_ rest: inout ArraySlice<UInt8>) throws(CommandFailure) -> Token {
    let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    rest = rest[digits.endIndex...]
    let width = digits.isEmpty ? 0 : Int(String(decoding: digits, as: UTF8.self)) ?? 99
    guard rest.popFirst() == UInt8(ascii: "d"), width <= 20 else {
      throw .usage(
        "in an output name, % must begin %d or a form such as %04d; write %% for a literal %")
    }
    return .index(width: width, isFitted: false)
  }
}

extension OutputTemplate.Values {
  /// Creates the values for frame `index` of `image`, with times under `policy`. A nil `index` means the static image.
  init(
    input: InputFile, index: Int?, of image: AnimatedImage, policy: DelayPolicy,
    format: OutputFormat
  ) {
    let starts = index.map { _ in image.startTimes(policy: policy).map(Self.milliseconds) }
    self.init(
      input, index: index, lastIndex: image.frames.count - 1,
      starts: starts ?? [], fileExtension: format.rawValue)
  }

  /// Creates the values for frame `index`. `starts` are the start times of all frames, followed by the end time of the
  /// last one, all in milliseconds.
  init(
    _ input: InputFile, index: Int?, lastIndex: Int?, starts: [Int], fileExtension: String
  ) {
    self.init(
      input: input, index: nil, lastIndex: lastIndex, timeMilliseconds: 0, delayMilliseconds: 0,
      fileExtension: fileExtension)
    setFrame(index, starts: starts)
  }

  /// Sets the values that differ between frames; the parameters are those of the initializer.
  mutating func setFrame(_ index: Int?, starts: [Int]) {
    self.index = index
    timeMilliseconds = index.map { starts[$0] } ?? 0
    delayMilliseconds = index.map { starts[$0 + 1] - starts[$0] } ?? 0
  }

  /// Returns `time` in whole milliseconds, rounded down.
  static func milliseconds(_ time: Duration) -> Int { Decimal(time).thousandths / 1000 }
}

extension OutputTemplate {
  /// Returns the template of the default names of files in `directory`: `{stem}-{index}.{ext}`, with an index of at
  /// least four digits, or `{stem}.y4m` or `{stem}.ffconcat` for these formats.
  static func files(
    inDirectory directory: [UInt8], for format: ExtractionFormat = .png
  ) -> OutputTemplate {
    let slash = UInt8(ascii: "/")
    let start: [Token] = [
      .text(directory.last == slash ? directory : directory + [slash]), .stem,
    ]
    switch format {
    case .png, .rgba, .tar: return OutputTemplate(tokens: start + numbered + [.fileExtension])
    case .y4m, .ffconcat:
      return OutputTemplate(tokens: start + [.text(Array(".\(format.rawValue)".utf8))])
    }
  }

  /// The tokens between the stem and the extension.
  private static let numbered: [Token] = [
    .text(Array("-".utf8)), .index(width: 4, isFitted: true), .text(Array(".".utf8)),
  ]

  /// Whether the names of different frames can differ.
  var tellsFramesApart: Bool {
    tokens.contains {
      switch $0 {
      case .index, .time, .delay: true
      default: false
      }
    }
  }

  /// The template for the names of the frames in a list, such as `LIST-{index}.png` if this is the list's template
  /// `LIST.ffconcat`. Nil if this template does not end in `.ffconcat`.
  var listedFrames: OutputTemplate? {
    let ending = Array(".ffconcat".utf8)
    guard case .text(let text)? = tokens.last, text.suffix(ending.count) == ending[...] else {
      return nil
    }
    return OutputTemplate(
      tokens: tokens.dropLast() + [.text(text.dropLast(ending.count))] + Self.numbered
        + [.fileExtension])
  }
}
