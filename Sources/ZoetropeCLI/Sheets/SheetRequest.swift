import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The request of one `zoetrope sheet` command.
struct SheetRequest: Hashable {
  var inputs: [InputFile]
  var output: String
  var selection = FrameSelection()
  /// The maximum number of frames of each input. If an input has more, those that differ most from each other are
  /// drawn. Nil for all selected frames.
  var distinctCount: Int?
  var columns: Int?
  var padding = 0
  var label = SheetLabel.none
  /// The colour behind the frames. It must be fully transparent or opaque.
  var background = RGBA.clear
  /// The scaling of the frames, or nil to keep their size.
  var rendering: Rendering?
  var atlas: String?
  var atlasShape = AtlasShape.hash
  var policy = DelayPolicy.browser
  var isForced = false
  var isQuiet = false
  /// The version of the tool, which is written to the atlas.
  var version = ""
  var options = DecodingOptions()

  /// The number of pixels between a frame and its label, and between labels.
  private static let labelGap = 3

  /// Draws the sheet. An input that cannot be opened is reported and left out. If no input can be opened, or if a frame
  /// cannot be decoded, nothing is written.
  func run() throws(CommandFailure) -> ExitStatus {
    try checkOutputs(InputIdentities(inputs))
    var statuses: [ExitStatus] = []
    var sources: [SheetSource] = []
    for input in inputs {
      do throws(CommandFailure) {
        sources.append(try source(input))
        statuses.append(.success)
      } catch {
        if Signals.ending != nil { throw error }
        error.report(asJSON: false)
        statuses.append(error.status)
      }
    }
    guard !sources.isEmpty else { return .combined(statuses) }
    let hasLosses = try Signals.whileCaught { () throws(CommandFailure) in
      try drawAndWrite(&sources)
    }
    if hasLosses { statuses.append(.partial) }
    return .combined(statuses)
  }

  /// Runs the checks for which no input needs to be open.
  private func checkOutputs(_ identities: InputIdentities) throws(CommandFailure) {
    if output == "-", atlas == "-" {
      throw .usage("the sheet and the atlas cannot both go to standard output")
    }
    try FileEnding.check(OutputTemplate(tokens: [.text(RawArguments.bytes(of: output))]), .png)
    if output == "-" { try OutputStream.checkTakesBinary() }
    var names = OutputNames()
    for name in [output, atlas].compactMap({ $0 }) {
      guard name != "-" else {
        try identities.check(.standardOutput)
        continue
      }
      let path = try OutputFile.path(ofFile: name)
      try identities.check(path)
      guard names.insert(isForced ? FileSystem.followingLinks(path) : path) else {
        throw .usage("the names of the sheet and the atlas conflict")
      }
      guard isForced || !OutputFile.isTaken(path) else {
        throw WriteFailure.exists("\(path)").commandFailure
      }
    }
  }

  /// Opens an input and selects its frames.
  private func source(_ input: InputFile) throws(CommandFailure) -> SheetSource {
    let image = try input.open(options)
    try rendering?.check(against: image, file: input.name)
    do throws(FrameSelector.MissingFrame) {
      let indices = try selection.indices(in: image.frames, policy: policy)
      if !indices.isEmpty {
        return SheetSource(
          input: input, image: image, rendering: rendering, indices: indices, policy: policy)
      }
    } catch {
      throw .missing(error, of: input)
    }
    throw .emptySelection(of: image, input: input, policy: policy)
  }

  /// Draws the sheet, and writes it and its atlas. Returns whether any data of the inputs was lost to damage.
  private func drawAndWrite(_ sources: inout [SheetSource]) throws(CommandFailure) -> Bool {
    if let distinctCount {
      for place in sources.indices { try sources[place].keepDistinct(distinctCount) }
    }
    // All times have the same number of fractional digits, so that they are easy to compare.
    let decimals = sources.reduce(0) { most, source in
      source.indices.reduce(most) { max($0, SheetLabel.decimals(of: source.start(of: $1))) }
    }
    let labels = sources.map { source -> [String] in
      source.indices.map {
        label.text(index: $0, time: source.start(of: $0), decimals: decimals)
      }
    }
    let layout = layout(of: sources, labels)
    try checkSize(layout)
    var hasLosses = false
    for source in sources {
      for damage in source.damage where !damage.kind.isTolerated {
        if !isQuiet { CommandRunner.report(damage, of: source.input, asJSON: false) }
        hasLosses = true
      }
    }
    let bitmap = try draw(sources, labels, layout, hasLosses: &hasLosses)
    try write(bitmap, atlas(of: sources, layout))
    return hasLosses
  }

  /// Draws every frame. Sets `hasLosses` to true if any data was lost to damage.
  private func draw(
    _ sources: [SheetSource], _ labels: [[String]], _ layout: SheetLayout, hasLosses: inout Bool
  ) throws(CommandFailure) -> Bitmap {
    var canvas = try catching(output) { () throws(AnimatedImageError) -> SheetCanvas in
      try SheetCanvas(size: layout.size, background: background)
    }
    let progress = ProgressReporter(
      style: isQuiet ? .none : .auto, total: sources.reduce(0) { $0 + $1.indices.count })
    var done = 0
    defer { progress.finish((done, nil)) }
    for (number, source) in sources.enumerated() {
      var frames = try source.frames()
      var damage = source.decodingDamage
      for place in source.indices.indices {
        let next = try catching(source.input.name) {
          () throws(AnimatedImageError) -> CompositedFrame? in
          try frames.next()
        }
        guard let frame = next else { break }
        let rect = layout.rect(ofFrame: place, input: number, size: frame.bitmap.size)
        canvas.draw(frame.bitmap, in: rect)
        if label != .none {
          canvas.write(labels[number][place], in: layout.labelRect(ofFrame: place, input: number))
        }
        if let item = frame.damage, damage.add(item), !item.kind.isTolerated {
          progress.clear()
          if !isQuiet { CommandRunner.report(item, of: source.input, asJSON: false) }
          hasLosses = true
        }
        done += 1
        progress.update((done, nil))
      }
    }
    return canvas.finish()
  }

  private func catching<Result: ~Copyable>(
    _ file: String, _ body: () throws(AnimatedImageError) -> Result
  ) throws(CommandFailure) -> Result {
    do throws(AnimatedImageError) {
      return try body()
    } catch {
      if let failure = CommandFailure.interruption("interrupted, nothing was written") {
        throw failure
      }
      throw CommandFailure(error, file: file, damage: options.damage)
    }
  }

  private func layout(of sources: [SheetSource], _ labels: [[String]]) -> SheetLayout {
    var cell = PixelSize(width: 1, height: 1)
    for source in sources {
      cell.width = max(cell.width, source.size.width)
      cell.height = max(cell.height, source.size.height)
    }
    if label != .none {
      let widest = labels.joined().map(SheetFont.width).max() ?? 0
      cell.width = max(cell.width, widest + Self.labelGap)
    }
    return SheetLayout(
      counts: sources.map(\.indices.count), cell: cell, columns: columns, padding: padding,
      labelHeight: label == .none ? 0 : Self.labelGap + SheetFont.height)
  }

  /// Throws if the sheet exceeds the limit on the pixels of a canvas or the limit on the memory of an image.
  private func checkSize(_ layout: SheetLayout) throws(CommandFailure) {
    let (size, limits) = (layout.size, options.limits)
    let bytes = size.area.multipliedReportingOverflow(by: 4)
    guard size.area > limits.canvasPixels || bytes.overflow || bytes.partialValue > limits.liveBytes
    else { return }
    throw CommandFailure(
      .limit, code: "limitExceeded",
      "the sheet would be \(size), but the limit is \(limits.canvasPixels) pixels and "
        + "\(limits.liveBytes) bytes; select fewer frames, or pass --size or --limits none")
  }

  private func atlas(of sources: [SheetSource], _ layout: SheetLayout) -> SheetAtlas {
    let names = SheetSource.names(of: sources)
    var sprites: [SheetAtlas.Sprite] = []
    var tags: [SheetAtlas.Tag] = []
    for (number, source) in sources.enumerated() {
      let start = sprites.count
      for (place, index) in source.indices.enumerated() {
        let shown = Decimal(source.duration(of: index))
        sprites.append(
          SheetAtlas.Sprite(
            name: "\(names[number])-\(String(index).paddedLeft(to: 4, with: "0")).png",
            rect: layout.rect(ofFrame: place, input: number, size: source.size),
            duration: (shown.thousandths + 500) / 1000))
      }
      tags.append(SheetAtlas.Tag(name: names[number], sprites: start..<sprites.count))
    }
    let path = FilePath(bytes: RawArguments.bytes(of: output))
    return SheetAtlas(
      image: path.lastComponent?.string ?? output, size: layout.size, version: version,
      sprites: sprites, tags: tags)
  }

  private func write(_ bitmap: Bitmap, _ content: SheetAtlas) throws(CommandFailure) {
    _ = try Delivery.of { () throws(WriteFailure) in
      let bytes = try FrameEncoder(.png(.balanced), metadata: nil).encode(bitmap)
      try write(bytes, to: output)
      guard let atlas else { return }
      do throws(WriteFailure) {
        try write(content.json(atlasShape), to: atlas)
      } catch {
        // The sheet is of no use without its atlas, and would stand in the way of the next attempt. A reader that has
        // enough of the atlas is no failure.
        let path = FilePath(bytes: RawArguments.bytes(of: output))
        if error != .closedPipe, !isForced, output != "-", !OutputStream.isNeeded(for: path) {
          FileSystem.remove(path)
        }
        throw error
      }
    }
  }

  private func write(_ bytes: [UInt8], to name: String) throws(WriteFailure) {
    guard name != "-" else { return try OutputStream.standardOutput.write(bytes) }
    let path = FilePath(bytes: RawArguments.bytes(of: name))
    if !OutputStream.isNeeded(for: path) {
      try OutputFile.makeDirectory(OutputFile.directory(of: path))
      TemporaryFile.sweep(OutputFile.directory(of: path))
    }
    try OutputFile.write(bytes, to: path, isReplacing: isForced, followsLinks: true)
  }
}
