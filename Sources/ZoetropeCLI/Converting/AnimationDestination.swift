public import ArgumentParser
internal import SystemPackage
public import Zoetrope
internal import ZoetropeProcess

/// The value of `--format` for commands that write animations.
extension AnimationFormat: ExpressibleByArgument {
  /// Creates the format with the name `argument`, or returns nil if animations cannot be written in that format.
  public init?(argument: String) {
    self.init(rawValue: argument)
    guard writable != nil else { return nil }
  }
  /// The names of all formats in which animations can be written.
  public static var allValueStrings: [String] { FormatTable.writableFormats.map(\.rawValue) }
  /// The names of all formats in which animations can be written.
  public static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

  /// The options that choose a format, as in "--format gif or --format apng".
  fileprivate static var choices: String {
    allValueStrings.map { "--format \($0)" }.joined(separator: " or ")
  }
}

/// The destination of the animations that a command writes: a file for each animation, or a pipe or device for a single
/// animation.
struct AnimationDestination: Hashable {
  enum Place: Hashable {
    /// A pipe or device with this path, or standard output if the path is nil.
    case stream(FilePath?)
    case file(FilePath)
  }

  /// The places of the outputs, in the order of the inputs.
  private(set) var places: [Place]
  /// The format of each output, or nil to use the format of its input.
  private(set) var formats: [AnimationFormat?]

  /// Returns the name of output `place`, for messages and reports.
  func name(of place: Int) -> FileName {
    switch places[place] {
    case .stream(nil): FileName(Array("standard output".utf8))
    case .stream(let path?), .file(let path): FileName(path)
    }
  }

  /// Determines the output for each of `inputs`. If `argument` names a file, a pipe, a device or `-`, that is the
  /// output. If it names a directory, the outputs are files in that directory, and files from a recursive search keep
  /// their subdirectories. If it is a template, the template determines the names. In a directory, the name of the
  /// input determines the format unless `format` is given.
  ///
  /// All names are known before any input is opened, because no name depends on the frames of an input.
  ///
  /// - Parameter keepsFormat: Whether each output has the format of its input.
  init(
    _ argument: String, for inputs: [InputFile], format: AnimationFormat? = nil,
    keepsFormat: Bool = false
  ) throws(CommandFailure) {
    let bytes = RawArguments.bytes(of: argument)
    guard !bytes.isEmpty else { throw .usage("the output name is empty") }
    if let stream = Self.stream(bytes) {
      guard inputs.count == 1 else {
        throw .usage(
          "a stream holds one animation; put {stem} into the output name, or name a directory")
      }
      (places, formats) = ([stream], [format])
      return
    }
    var template: OutputTemplate
    var choices = [AnimationFormat?](repeating: format, count: inputs.count)
    let isDirectory =
      bytes.last == UInt8(ascii: "/") || OutputFile.isDirectory(FilePath(bytes: bytes))
    if isDirectory {
      let slash: [UInt8] = bytes.last == UInt8(ascii: "/") ? [] : Array("/".utf8)
      let name: [OutputTemplate.Token] =
        format == nil ? [.name] : [.stem, .text(Array(".".utf8)), .fileExtension]
      // Files from subdirectories stay in these subdirectories.
      let isTree = inputs.contains { $0.isBelowRoot }
      let place: [OutputTemplate.Token] = isTree ? [.directory, .text(Array("/".utf8))] : []
      template = OutputTemplate(tokens: [.text(bytes + slash)] + place + name)
    } else {
      template = try OutputTemplate(parsing: bytes, isForFrames: false)
    }
    guard !template.tellsFramesApart else {
      throw .usage(
        "one file holds all frames; its name cannot contain {index}, {start_ms} or {shown_ms}")
    }
    // Whether each output has the extension of its input, which determines the format of the output.
    var keepsExtension = false
    // The extension of the format that all outputs have, or nil if each has the format of its input.
    var ending: String?
    if keepsFormat {
      // Each output has the format of its input, which is known once the input is open.
      for input in inputs { try Self.check(input, hasPartsOf: template) }
    } else if format == nil,
      isDirectory || [.name, .fileExtension].contains(template.tokens.last)
    {
      keepsExtension = true
      choices = try inputs.map { (input) throws(CommandFailure) -> AnimationFormat? in
        do throws(CommandFailure) {
          return try Self.format(ofName: input.fullStem, nil, "\(input.name)")
        } catch {
          // A missing file or an empty directory fails when its turn comes, and needs no format.
          if let path = input.path, FileStatus(at: path)?.isDirectory ?? true { return nil }
          throw error
        }
      }
    } else {
      var name: [UInt8] = []
      if case .text(let text)? = template.tokens.last { name = text }
      let choice = try Self.format(ofName: name, format, "the output")
      choices = choices.map { _ in choice }
      ending = choice.fileExtension
      // A stem can have an extension, too: that of `a.gif.png` is `a.gif`.
      for input in inputs {
        switch template.tokens.last {
        case .name?:
          let advice = "replace {name} with {stem}.\(choice.fileExtension)"
          _ = try Self.format(ofName: input.fullStem, choice, input.name, advice: advice)
        case .stem?:
          let advice = "add .\(choice.fileExtension) to the output name"
          _ = try Self.format(ofName: input.stem, choice, "the output", advice: advice)
        default: break
        }
      }
    }
    try template.checkNames(
      of: inputs, example: "DIR/{name}" + (ending.map { ".\($0)" } ?? ""),
      keepsExtension: keepsExtension || keepsFormat)
    formats = choices
    places = zip(inputs, choices).map { input, choice in
      .file(
        Self.withoutDots(
          template.name(
            OutputTemplate.Values(
              input: input, index: nil, lastIndex: nil,
              timeMilliseconds: 0, delayMilliseconds: 0,
              fileExtension: (keepsExtension ? nil : choice?.fileExtension)
                ?? input.path?.extension ?? ""))))
    }
  }

  /// Determines the single output, which is named by `argument`. Placeholders are not replaced.
  init(_ argument: String, format: AnimationFormat?) throws(CommandFailure) {
    let bytes = RawArguments.bytes(of: argument)
    guard !bytes.isEmpty else { throw .usage("the output name is empty") }
    if let stream = Self.stream(bytes) {
      (places, formats) = ([stream], [format])
      return
    }
    let path = FilePath(bytes: bytes)
    guard bytes.last != UInt8(ascii: "/"), !OutputFile.isDirectory(path) else {
      throw .usage("\(path) is a directory; name a file")
    }
    formats = [try Self.format(ofName: bytes, format, "the output")]
    places = [.file(path)]
  }

  /// Returns the path `name` without its `.` components, which a template may produce.
  private static func withoutDots(_ name: [UInt8]) -> FilePath {
    var path = FilePath(bytes: name)
    let components = path.components.filter { $0.kind != .currentDirectory }
    if components.count < path.components.count, path.components.first?.kind == .regular {
      path = FilePath(root: path.root, components)
    }
    return path
  }

  private static func stream(_ bytes: [UInt8]) -> Place? {
    let path = FilePath(bytes: bytes)
    if bytes == [UInt8(ascii: "-")] || OutputStream.isStandardOutput(path) { return .stream(nil) }
    return OutputStream.isNeeded(for: path) ? .stream(path) : nil
  }

  /// Returns `choice`, or else the format that the extension of the name `bytes` implies. Error messages call the file
  /// `file`, and give `advice` if the extension contradicts `choice`.
  private static func format(
    ofName bytes: [UInt8], _ choice: AnimationFormat?, _ file: String, advice: String? = nil
  ) throws(CommandFailure) -> AnimationFormat {
    guard
      let name = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last,
      let dot = name.lastIndex(of: UInt8(ascii: "."))
    else {
      if let choice { return choice }
      throw .usage("the name of \(file) has no extension; choose \(AnimationFormat.choices)")
    }
    let ending = String(decoding: name[(dot + 1)...], as: UTF8.self)
    let known = AnimationFormat(fileExtension: ending.lowercased())
    guard let choice else {
      if let known { return known }
      throw .usage(
        "the name of \(file) ends in .\(ending), not in \(FormatTable.writableExtensions); "
          + "choose \(AnimationFormat.choices)")
    }
    if let known, known != choice {
      throw .usage(
        "--format \(choice.rawValue) contradicts the extension .\(ending) of \(file)"
          + (advice.map { "; \($0)" } ?? ""))
    }
    return choice
  }

  /// Throws if `input` lacks a part of its name that the name of its output needs: a name at all, or an extension.
  private static func check(
    _ input: InputFile, hasPartsOf template: OutputTemplate
  ) throws(CommandFailure) {
    if input.path == nil, template.tokens.last == .name {
      throw .usage("\(input.name) has no name for the output; name a file, such as out.gif")
    }
    guard template.tokens.contains(.fileExtension) else { return }
    if let path = input.path {
      // A missing file or an empty directory fails when its turn comes.
      if FileStatus(at: path)?.isDirectory ?? true { return }
      if path.extension?.isEmpty == false { return }
    }
    throw .usage(
      "the name of \(input.name) has no extension; replace {ext} in the output name")
  }

  /// Throws if the extension of output `place` implies a format other than `format`, that of the input called `file`.
  func check(
    _ place: Int, holds format: AnimationFormat, of file: String
  ) throws(CommandFailure) {
    guard case .file(let path) = places[place], let ending = path.extension else { return }
    let written = format.outputFormat
    let known = AnimationFormat(fileExtension: ending.lowercased())
    guard known.map({ $0 != written }) ?? FileEnding.isForeign(ending) else { return }
    var failure = CommandFailure.usage(
      "the output is \(written.displayName), but its name ends in .\(ending)", file: file)
    // The input may have the same wrong name, which a directory or `{name}` would keep.
    failure.advice = "choose an output name that ends in .\(written.fileExtension)"
    throw failure
  }

  /// Throws if an output would overwrite an input, if two outputs have the same name, or if an output exists (unless
  /// `isForced` or `isResuming`).
  ///
  /// - Parameters:
  ///   - isInPlace: Whether an output may replace its own input, which happens once the output is complete.
  ///   - isForced: Whether existing files are replaced.
  ///   - isResuming: Whether existing files are kept.
  ///   - isPlan: Whether standard output receives a plan, even if the animation would go there.
  /// - Returns: The indices of the outputs whose existing files are kept.
  func check(
    _ inputs: [InputFile], isInPlace: Bool, isForced: Bool, isResuming: Bool = false,
    isPlan: Bool = false
  ) throws(CommandFailure) -> Set<Int> {
    var kept: Set<Int> = []
    let identities = InputIdentities(inputs)
    var names = OutputNames()
    for (number, place) in places.enumerated() {
      switch place {
      case .stream(nil):
        if !isPlan { try OutputStream.checkTakesBinary() }
        try identities.check(.standardOutput)
      case .stream(let path?): try identities.check(path)
      case .file(let path):
        // If `path` is a link, the file that it leads to is replaced, not the link itself.
        let target = isForced ? FileSystem.followingLinks(path) : path
        guard names.insert(target) else {
          throw .usage(
            target == path
              ? "two outputs would be called \(path); separate the fields of the output name, "
                + "as in {parent}/{name}"
              : "two outputs would be the same file, \(target), to which \(path) is a link")
        }
        try identities.check(path, unless: isInPlace ? inputs[number] : nil)
        guard !isForced, OutputFile.isTaken(path) else { continue }
        guard isResuming else { throw WriteFailure.exists("\(path)").commandFailure }
        try inputs[number].checkKept(path)
        kept.insert(number)
      }
    }
    return kept
  }
}
