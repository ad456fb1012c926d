import SystemPackage
import Zoetrope
import ZoetropePlayer
import ZoetropeProcess

/// The request of one `zoetrope still` command.
struct StillRequest: Hashable {
  enum Choice: Hashable {
    case frame(FrameNumber)
    case time(Duration)
    case poster(PosterChoice)
  }

  enum Output: Hashable {
    /// The pictures are written to the output with this name, the value of `-o`.
    case files(String)
    /// The pictures are drawn in the terminal.
    case drawing(PreviewSettings)
  }

  var inputs: [InputFile]
  var output: Output
  var choice: Choice
  /// The scaling of the picture, or nil to keep its size.
  var rendering: Rendering?
  var format = OutputFormat.png
  /// The policy that determines how long each frame is shown.
  var policy = DelayPolicy.browser
  var isForced = false
  var cache = CommandCache()
  var options = DecodingOptions()

  /// Writes or draws one picture of each file that can be decoded. If an input fails, the other inputs are still
  /// processed. If output fails, the command ends.
  func run() throws(CommandFailure) -> ExitStatus {
    let store = cache.open()
    defer { cache.reportFailure(of: store) }
    switch output {
    case .drawing(let settings):
      let drawing = try PictureDrawing(settings)
      return try each(.none, keptIn: store) { (_, picture) throws(CommandFailure) -> Delivery in
        try drawing.draw(endingWithoutMemory(try picture.frame.bitmap.converted(to: .rgba8)))
      }
    case .files(let name):
      var files = try StillFiles(name, inputs, format: format, isForced: isForced)
      return try each(.auto, keptIn: store) {
        (input, picture) throws(CommandFailure) -> Delivery in
        let values = OutputTemplate.Values(
          input: input, index: picture.index, of: picture.image, policy: policy, format: format)
        return try files.write(picture.frame.bitmap, of: picture.image, values)
      }
    }
  }

  /// A picture that has been decoded.
  private struct Picture {
    let image: AnimatedImage
    let frame: CompositedFrame
    /// The index of the frame, or nil for the static image.
    let index: Int?
  }

  /// Decodes the picture of each input and passes it to `body`. An error of `body` ends the command. If the reader of
  /// the output has gone away, the command ends with the status of the inputs processed so far. At most one input is
  /// open at a time.
  private func each(
    _ style: ProgressStyle, keptIn store: FrameStore?,
    _ body: (InputFile, Picture) throws(CommandFailure) -> Delivery
  ) throws(CommandFailure) -> ExitStatus {
    var statuses: [ExitStatus] = []
    // A single picture is decoded so quickly that a progress line is not needed.
    let progress = ProgressReporter(style: inputs.count > 1 ? style : .none, inputs: inputs)
    defer { progress.summarize() }
    for input in inputs {
      let picture: Picture
      progress.begin()
      do throws(CommandFailure) {
        picture = try self.picture(of: input, keptIn: store)
      } catch {
        progress.clear()
        progress.end(InputCondition(error))
        if Signals.ending != nil { throw error }
        error.report(asJSON: false)
        statuses.append(error.status)
        continue
      }
      guard try body(input, picture) == .complete else { return .combined(statuses + [.success]) }
      if let damage = picture.frame.damage, !damage.kind.isTolerated {
        progress.clear()
        CommandRunner.report(damage, of: input, asJSON: false)
        statuses.append(.partial)
        progress.end(.damaged, frames: 1)
      } else {
        statuses.append(.success)
        progress.end(.ok, frames: 1)
      }
    }
    return .combined(statuses)
  }

  private func picture(
    of input: InputFile, keptIn store: FrameStore?
  ) throws(CommandFailure) -> Picture {
    let image = try input.open(options, knownTo: store)
    try rendering?.check(against: image, file: input.name)
    do throws(AnimatedImageError) {
      if let still = try staticImage(of: image) {
        return Picture(image: image, frame: try rendered(still), index: nil)
      }
      let frame = try chosenFrame(of: image, keptIn: store)
      return Picture(image: image, frame: frame, index: frame.index)
    } catch {
      throw CommandFailure(error, file: input.name, damage: options.damage)
    }
  }

  /// Returns the static image if it was requested and exists, otherwise nil.
  private func staticImage(
    of image: AnimatedImage
  ) throws(AnimatedImageError) -> CompositedFrame? {
    guard choice == .poster(.default) else { return nil }
    return try StoredFrameReader(image).staticImage()
  }

  /// Returns the requested frame, scaled.
  private func chosenFrame(
    of image: AnimatedImage, keptIn store: FrameStore?
  ) throws(AnimatedImageError) -> CompositedFrame {
    let reader = FrameReader(image)
    var index = 0
    switch choice {
    case .frame(let number):
      index = number.index(count: image.frames.count)
      guard image.frames.indices.contains(index) else {
        // The message contains the number that the user gave, even if it counts from the end.
        throw .noFrame(number.number, of: image.frames.count, format: image.format)
      }
    case .time(let time): index = image.frameIndex(at: time, policy: policy)
    case .poster(.first), .poster(.default): break
    case .poster(.nonblank):
      // The pixels are checked before scaling, which could make a few visible pixels vanish.
      while let frame = try reader.next() {
        if frame.bitmap.hasVisiblePixels { return try rendered(frame) }
      }
    }
    guard let store else { return try rendered(reader.frame(at: index)) }
    return try RenderedReader(image, rendering: rendering ?? Rendering(), cache: store)
      .frame(at: index)
  }

  private func rendered(_ frame: CompositedFrame) throws(AnimatedImageError) -> CompositedFrame {
    guard let rendering else { return frame }
    return try frame.scaled(by: rendering)
  }
}

/// Writes the outputs of `still -o`.
struct StillFiles {
  private enum Destination {
    /// All pictures are written to one output, which is opened when the first picture is written. Without a path, that
    /// output is standard output.
    case stream(FilePath?)
    case files(OutputTemplate)
  }

  /// The value of `-o`.
  private let argument: [UInt8]
  private let destination: Destination
  private let format: OutputFormat
  private let isForced: Bool
  private let identities: InputIdentities
  private var names = OutputNames()
  private var stream: OutputStream?

  /// Runs the checks for which no input needs to be open. Unlike in `extract`, `name` names a file unless it ends in a
  /// slash or names an existing directory.
  init(
    _ name: String, _ inputs: [InputFile], format: OutputFormat, isForced: Bool
  ) throws(CommandFailure) {
    argument = RawArguments.bytes(of: name)
    (self.format, self.isForced) = (format, isForced)
    identities = InputIdentities(inputs)
    let path = FilePath(bytes: argument)
    if argument == [UInt8(ascii: "-")] {
      try OutputStream.checkTakesBinary()
      try identities.check(.standardOutput)
      destination = .stream(nil)
    } else if OutputStream.isNeeded(for: path) {
      try identities.check(path)
      destination = .stream(path)
    } else {
      let isDirectory = argument.last == UInt8(ascii: "/") || OutputFile.isDirectory(path)
      let template =
        isDirectory
        ? OutputTemplate.files(inDirectory: argument) : try OutputTemplate(parsing: argument)
      try FileEnding.check(template, ExtractionFormat(format), for: inputs)
      try template.checkNames(of: inputs, example: "DIR/{name}.{ext}")
      destination = .files(template)
    }
  }

  /// Writes `bitmap`, a picture of `image`. If the picture gets its own file, `values` determine the file's name.
  mutating func write(
    _ bitmap: Bitmap, of image: AnimatedImage, _ values: OutputTemplate.Values
  ) throws(CommandFailure) -> Delivery {
    let bytes: [UInt8]
    do throws(WriteFailure) {
      bytes = try FrameEncoder(PictureForm(format), metadata: image.metadata).encode(bitmap)
    } catch {
      throw error.commandFailure
    }
    return switch destination {
    case .stream(let path): try append(bytes, to: path)
    case .files(let template): try write(bytes, to: FilePath(bytes: template.name(values)))
    }
  }

  private mutating func append(
    _ bytes: [UInt8], to path: FilePath?
  ) throws(CommandFailure) -> Delivery {
    try Delivery.of { () throws(WriteFailure) in
      let stream: OutputStream
      if let open = self.stream {
        stream = open
      } else if let path {
        stream = try OutputStream(path)
      } else {
        stream = .standardOutput
      }
      self.stream = stream
      try stream.write(bytes)
    }
  }

  private mutating func write(
    _ bytes: [UInt8], to path: FilePath
  ) throws(CommandFailure) -> Delivery {
    try identities.check(path)
    guard names.insert(path) else {
      throw .usage("\(path) would be written twice; add {name} to the output name")
    }
    return try Delivery.of { () throws(WriteFailure) in
      try OutputFile.makeDirectory(OutputFile.directory(of: path))
      TemporaryFile.sweep(OutputFile.directory(of: path))
      try Signals.whileCaught { () throws(WriteFailure) in
        try OutputFile.write(
          bytes, to: path, isReplacing: isForced, followsLinks: path.bytes == argument)
      }
    }
  }
}

extension Bitmap {
  /// Whether any pixel is not fully transparent. The bitmap must be 8-bit RGBA.
  fileprivate var hasVisiblePixels: Bool {
    for y in 0..<height {
      let row = pixels(row: y)
      for x in 0..<width where row[x].alpha != 0 { return true }
    }
    return false
  }
}
