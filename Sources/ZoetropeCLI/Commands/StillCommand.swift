import ArgumentParser
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// `zoetrope still`.
struct StillCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "still",
    abstract: "Write one picture of an animation.",
    discussion: """
      Without --frame or --at it is the poster.

      OUTPUT is a file, a directory that exists or ends in a slash (the file is called \
      {stem}-{index:04}.png), a template as for extract, a pipe or device, or - for standard output.

      EXAMPLES:
        zoetrope still party.gif -o thumb.png --size 128x128 --filter lanczos3
        zoetrope still party.gif -o thumbs/ --at 1.5s
      """)

  @Argument(
    help: "A GIF or PNG file; - reads standard input.", completion: .animations)
  var file: String

  @Option(
    name: [.customShort("o", allowingJoined: true), .long],
    help: "A file, a directory, a template, or - for standard output.",
    completion: .file())
  var output: String

  @Option(parsing: .unconditional, help: "The frame, counted from 0; -1 is the last.")
  var frame: FrameNumber?

  @Option(
    parsing: .unconditional,
    help: "The frame shown at a time such as 1.5s, later plays included.")
  var at: TimeArgument?

  @Option(help: "Which frame is the poster.")
  var poster = PosterChoice.default

  @Option(help: "How the picture is written.")
  var format = OutputFormat.png

  @Flag(help: "Replace an existing file.")
  var force = false

  @OptionGroup var timing: TimingArguments

  @OptionGroup var scaling: ScalingArguments

  @OptionGroup var cache: CacheArguments

  @OptionGroup var decoding: DecodingArguments

  func validate() throws {
    guard frame == nil || at == nil else { throw ValidationError("--frame or --at, not both") }
    guard !output.isEmpty else { throw ValidationError("the output name is empty") }
  }

  func execute() -> ExitStatus {
    StillRequest(
      file: file, output: output, choice: choice, rendering: scaling.rendering, format: format,
      policy: timing.policy, isForced: force, cache: cache.settings, options: decoding.options
    ).run()
  }

  private var choice: StillRequest.Choice {
    if let frame { return .frame(frame) }
    if let at { return .time(at.time) }
    return .poster(poster)
  }
}

/// The words of `--poster`.
enum PosterChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
  case first, `default`, nonblank
}

/// `zoetrope still` as a value.
struct StillRequest: Hashable {
  enum Choice: Hashable {
    case frame(FrameNumber)
    case time(Duration)
    case poster(PosterChoice)
  }

  var file: String
  var output: String
  var choice: Choice
  /// How the picture is scaled; nil for its own size.
  var rendering: Rendering?
  var format = OutputFormat.png
  /// How long each frame is shown.
  var policy = DelayPolicy.browser
  var isForced = false
  var cache = CommandCache()
  var options = DecodingOptions()

  /// Writes the picture; nothing is written when it cannot be decoded.
  func run() -> ExitStatus {
    let store = cache.open()
    defer { cache.reportFailure(of: store) }
    do throws(CommandFailure) {
      let input = InputFile(file)
      let template = try template()
      let identities = InputIdentities([input])
      let image = try input.open(options, knownTo: store)
      try rendering?.check(against: image, file: input.name)
      let still: CompositedFrame?
      let frame: CompositedFrame
      do throws(AnimatedImageError) {
        still = try staticImage(of: image)
        if let still {
          frame = rendered(still)
        } else {
          frame = try picture(of: image, keptIn: store)
        }
      } catch {
        throw CommandFailure(error, file: input.name, damage: options.damage)
      }
      let values = OutputTemplate.Values(
        input: input, index: still == nil ? frame.index : nil, of: image, policy: policy,
        format: format)
      let name = template?.name(values)
      if let name {
        try identities.check(FilePath(bytes: name))
      } else {
        try identities.check(.standardOutput)
      }
      try write(frame.bitmap, metadata: image.metadata, to: name)
      guard let damage = frame.damage, !damage.kind.isTolerated else { return .success }
      CommandRunner.report(damage, of: input, asJSON: false)
      return .partial
    } catch {
      if error.status != .success { error.report(asJSON: false) }
      return error.status
    }
  }

  /// The static image, if it was requested and exists.
  private func staticImage(
    of image: AnimatedImage
  ) throws(AnimatedImageError) -> CompositedFrame? {
    guard choice == .poster(.default) else { return nil }
    return try StoredFrameReader(image).staticImage()
  }

  /// The frame that was chosen, scaled.
  private func picture(
    of image: AnimatedImage, keptIn store: FrameStore?
  ) throws(AnimatedImageError) -> CompositedFrame {
    let reader = FrameReader(image)
    var index = 0
    switch choice {
    case .frame(let number): index = number.index(count: image.frames.count)
    case .time(let time): index = image.frameIndex(at: time, policy: policy)
    case .poster(.first), .poster(.default): break
    case .poster(.nonblank):
      // Judged before scaling, which could make a few visible pixels vanish.
      while let frame = try reader.next() {
        if frame.bitmap.hasVisiblePixels { return rendered(frame) }
      }
    }
    guard let store else { return rendered(try reader.frame(at: index)) }
    return try CachedFrameReader(image, rendering: rendering ?? Rendering(), cache: store)
      .frame(at: index)
  }

  private func rendered(_ frame: CompositedFrame) -> CompositedFrame {
    rendering.map { frame.scaled(by: $0) } ?? frame
  }

  /// The name of the output; nil for standard output. Unlike with `extract`, a name is a file
  /// unless it is an existing directory or ends in a slash.
  private func template() throws(CommandFailure) -> OutputTemplate? {
    let argument = RawArguments.bytes(of: output)
    if argument == [UInt8(ascii: "-")] { return nil }
    let path = FilePath(bytes: argument)
    if OutputStream.isNeeded(for: path) { return OutputTemplate(tokens: [.text(argument)]) }
    let template: OutputTemplate
    if argument.last == UInt8(ascii: "/") || OutputFile.isDirectory(path) {
      template = .files(inDirectory: argument)
    } else {
      template = try OutputTemplate(parsing: argument)
    }
    try FileEnding.check(template, format)
    return template
  }

  private func write(
    _ bitmap: Bitmap, metadata: AnimationMetadata, to name: [UInt8]?
  ) throws(CommandFailure) {
    do throws(WriteFailure) {
      let bytes = try FrameEncoder(format: format, metadata: metadata).encode(bitmap)
      guard let name else {
        try FileDescriptor.standardOutput.writeFully(bytes, name: "standard output")
        return
      }
      let path = FilePath(bytes: name)
      let given = RawArguments.bytes(of: output)
      if !OutputStream.isNeeded(for: path) {
        try OutputFile.makeDirectory(OutputFile.directory(of: path))
        TemporaryFile.sweep(OutputFile.directory(of: path))
      }
      try Signals.whileCaught { () throws(WriteFailure) in
        try OutputFile.write(
          bytes, to: path, isReplacing: isForced, followsLinks: path.bytes == given)
      }
    } catch {
      throw error.commandFailureOrEnd
    }
  }
}

extension Bitmap {
  /// Whether any pixel of an 8-bit RGBA picture is not fully transparent.
  fileprivate var hasVisiblePixels: Bool {
    for y in 0..<height {
      let row = pixels(row: y)
      for x in 0..<width where row[x].alpha != 0 { return true }
    }
    return false
  }
}
