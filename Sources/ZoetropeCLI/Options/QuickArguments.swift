import Zoetrope

/// Reads plain argument lists without ArgumentParser, whose reflection takes longer than `info` on
/// a small file does.
///
/// Understands only whole names with valid values, each at most once. Anything else (help,
/// abbreviations, mistakes) gives nil, and ArgumentParser reads the list again and explains; tests
/// hold the two to the same answers.
struct QuickArguments {
  private var files: [String] = []
  // Lists and no sets: with a handful of words they are faster, and the runtime need not make a type
  // of table for each, which costs as much as reading a small file does.
  private var flags: [String] = []
  private var values: [(name: String, text: String)] = []

  /// Nil when `arguments` have anything but these flags, options with their values, and files.
  private init?(_ arguments: ArraySlice<String>, flags known: [String], options: [String]) {
    var rest = arguments
    while let argument = rest.popFirst() {
      guard argument.utf8.first == UInt8(ascii: "-"), argument != "-" else {
        files.append(argument)
        continue
      }
      if known.contains(argument) {
        guard !flags.contains(argument) else { return nil }
        flags.append(argument)
      } else if options.contains(argument), let value = rest.popFirst(),
        value == "-" || value.utf8.first != UInt8(ascii: "-"), text(argument) == nil
      {
        values.append((argument, value))
      } else {
        return nil
      }
    }
    guard !files.isEmpty else { return nil }
  }

  /// The command that `arguments` name, when it can be read this way.
  static func command(_ arguments: [String]) -> QuickCommand? {
    switch arguments.first {
    case "info": info(arguments.dropFirst()).map(QuickCommand.info)
    case "extract": extract(arguments.dropFirst()).map(QuickCommand.extract)
    default: nil
    }
  }

  private static func info(_ arguments: ArraySlice<String>) -> InfoRequest? {
    guard
      let read = QuickArguments(
        arguments, flags: ["--json", "--frames", "--metadata"],
        options: ["--timing", "--damage", "--limits", "--decoder"]),
      let options = read.decodingOptions,
      let timing = read.value(
        "--timing", else: TimingArgument(policy: .browser),
        {
          TimingArgument(argument: $0)
        })
    else { return nil }
    return InfoRequest(
      files: read.files, isJSON: read.flags.contains("--json"),
      showsFrames: read.flags.contains("--frames"),
      showsMetadata: read.flags.contains("--metadata"), policy: timing.policy, options: options)
  }

  private static func extract(_ arguments: ArraySlice<String>) -> ExtractRequest? {
    guard
      let read = QuickArguments(
        arguments, flags: ["--force", "--resume", "--raw", "--quiet"],
        options: ["-o", "--output", "--format", "--frames", "--damage", "--limits", "--decoder"]),
      let options = read.decodingOptions,
      let output = read.text("-o") ?? read.text("--output"),
      read.text("-o") == nil || read.text("--output") == nil,
      !(read.flags.contains("--force") && read.flags.contains("--resume")),
      let format = read.value("--format", else: .png, { OutputFormat(rawValue: $0) }),
      let frames = read.value(
        "--frames", else: FrameSelector?.none,
        {
          FrameSelector($0).map(Optional.some)
        })
    else { return nil }
    return ExtractRequest(
      files: read.files, output: output, selection: FrameSelection(frames: frames),
      isRaw: read.flags.contains("--raw"), format: format,
      isForced: read.flags.contains("--force"), isResuming: read.flags.contains("--resume"),
      isQuiet: read.flags.contains("--quiet"), options: options)
  }

  private var decodingOptions: DecodingOptions? {
    guard let damage = value("--damage", else: .salvage, { DamageChoice(rawValue: $0) }),
      let limits = value("--limits", else: .default, { LimitsProfile(rawValue: $0) }),
      let decoder = value("--decoder", else: .fast, { DecoderChoice(rawValue: $0) })
    else { return nil }
    return DecodingOptions(damage: damage.policy, limits: limits.limits, decoder: decoder.decoder)
  }

  /// The value of option `name`; nil when it is given and means nothing.
  private func value<Value>(
    _ name: String, else fallback: Value, _ read: (String) -> Value?
  ) -> Value? {
    guard let text = text(name) else { return fallback }
    return read(text)
  }

  /// The value of option `name` as it was given; nil when it was not.
  private func text(_ name: String) -> String? { values.first { $0.name == name }?.text }
}

/// A command that was read without ArgumentParser.
enum QuickCommand: Hashable {
  case info(InfoRequest)
  case extract(ExtractRequest)

  func run() -> ExitStatus {
    switch self {
    case .info(let request): request.run()
    case .extract(let request): request.run()
    }
  }
}
