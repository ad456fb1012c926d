import Zoetrope
import ZoetropeProcess

/// The request of one `zoetrope convert` command.
struct ConvertRequest: Hashable {
  var inputs: InputList
  var output: String
  var edits = EditChoices()
  /// The scaling of the pictures, or nil to keep their size.
  var rendering: Rendering?
  var form = WritingChoices()
  /// The site that the output is made for, with the site's limits, or nil for none.
  var preset: UploadPreset?
  /// The policy that determines how long each frame is shown.
  var policy = DelayPolicy.browser
  /// Whether the command only prints the plan and writes no output.
  var isPlan = false
  /// Whether inputs whose outputs exist are only scanned.
  var isResuming = false
  var reporting = ConversionReporting()
  var options = DecodingOptions()

  /// Converts every file. If an input fails, the other inputs are still converted. If output fails, the command ends.
  ///
  /// All names are checked before the first file is opened, and the conversion of each input is planned before a byte
  /// of its output is written.
  func run() throws(CommandFailure) -> ExitStatus {
    let inputs = try self.inputs.inputs(
      outputDirectory: OutputTemplate.directory(of: output))
    let destination = try AnimationDestination(output, for: inputs, format: form.format)
    try form.check(destination.formats)
    if destination.places.contains(.stream(nil)), reporting.isJSON, !isPlan {
      throw .usage("the animation and --json cannot both go to standard output")
    }
    let kept = try destination.check(
      inputs, isInPlace: !isResuming, isForced: form.isForced, isResuming: isResuming,
      isPlan: isPlan)
    return try reporting.forEach(inputs, keeping: kept, options: options) {
      (input, place, progress) throws(CommandFailure) in
      var settled = self
      settled.form.format = destination.formats[place]
      return try settled.convert(input, to: destination, place, progress)
    }
  }

  private func convert(
    _ input: InputFile, to destination: AnimationDestination, _ place: Int,
    _ progress: ProgressReporter
  ) throws(CommandFailure) -> ConversionReporting.Outcome {
    let image = try input.open(options)
    var edits: [AnimationEdit]
    let isEmpty: Bool
    do throws(FrameSelector.MissingFrame) {
      edits = try self.edits.edits(count: image.frames.count)
      isEmpty = try self.edits.keepNothing(of: image, policy)
    } catch {
      throw .missing(error, of: input)
    }
    if isEmpty { throw .emptySelection(of: image, input: input, policy: policy) }
    try check(image, input)
    if let rendering {
      edits.append(
        .resize(
          rendering.target ?? TargetSize(), fit: rendering.fit, filter: rendering.filter,
          linearLight: rendering.linearLight))
    }
    var editing = form.editOptions(delayPolicy: policy)
    editing.format = format(of: image)
    let dropped = try meet(preset, &edits, &editing, of: image, input)
    func failure(_ error: AnimatedImageError) -> CommandFailure {
      var failure = CommandFailure(
        planning: error, file: input.name, damage: options.damage,
        isScaled: rendering.map { $0.filter != .nearest } ?? false)
      if error.limit?.kind == .outputBytes { failure.advice = adviceOnPins }
      return failure
    }
    let conversion: Conversion
    do throws(AnimatedImageError) {
      // Planning may have to decode pictures, so signals are caught.
      conversion = try Signals.whileCaught { () throws(AnimatedImageError) in
        try Conversion(image, edits, editing, droppedCount: dropped, progress)
      }
    } catch {
      throw failure(error)
    }
    do throws(AnimatedImageError) {
      try preset?.check(conversion.plan)
    } catch {
      throw CommandFailure(meeting: error, file: input.name, advice: adviceOnOutput(error))
    }
    var report = ConversionReport(
      input: input, output: destination.name(of: place), format: conversion.format,
      inputByteCount: image.byteCount, size: conversion.size, playCount: conversion.playCount,
      steps: conversion.steps, departures: conversion.departures, damage: conversion.damage,
      isPlan: isPlan)
    if preset != nil, self.edits.playCount == nil, conversion.playCount != image.playCount {
      report.departures.append(.plays(conversion.playCount))
    }
    report.reducedCount = conversion.reducedCount
    report.smallerChoices = smallerChoices(conversion.format)
    let ownFormat = image.format.outputFormat
    let writtenFormat = conversion.format.outputFormat
    if let ending = input.path?.extension, writtenFormat != ownFormat,
      AnimationFormat(fileExtension: ending.lowercased()) == writtenFormat
    {
      report.disguised = ownFormat
    }
    report.storesAddedColors =
      image.format.hasPalettes && !conversion.format.hasPalettes && rendering?.filter != .nearest
    report.isEnlarged = conversion.size.area > image.canvasSize.area
    if let crop = self.edits.crop, !PixelRect(image.canvasSize).contains(crop) {
      report.clipped = PixelRect(image.canvasSize).intersection(crop)
    }
    if !isPlan {
      let written = try AnimationWriting(
        place: destination.places[place], isReplacing: form.isForced, name: input.name,
        progress: progress, failure: failure
      ).write(frameCount: conversion.steps.count) { (sink, progress) throws(AnimatedImageError) in
        try conversion.write(to: sink, progress: progress)
      }
      report.byteCount = written.byteCount
      report.reducedCount = written.reducedCount
      // The writer may have used fewer colours than planned, so that the output is not larger than the input.
      if written.reducedCount > 0 { report.departures.reduceColors(to: written.colorLimit) }
    }
    let losses = report.damage.filter { !$0.kind.isTolerated }
    if !reporting.isQuiet, !reporting.isJSON {
      for item in losses { CommandRunner.report(item, of: input, asJSON: false) }
    }
    if !reporting.isQuiet, !reporting.isJSON { report.warn() }
    let delivery = try reporting.tell(
      report, isOutputStandard: destination.places[place] == .stream(nil))
    let bytes = report.byteCount.map { (before: image.byteCount, after: $0) }
    return (losses.isEmpty ? .success : .partial, delivery, conversion.steps.count, bytes)
  }

  /// Adds the requirements of `preset` to `edits` and `options`. Returns the number of frames that are dropped for it.
  private func meet(
    _ preset: UploadPreset?, _ edits: inout [AnimationEdit], _ options: inout EditOptions,
    of image: AnimatedImage, _ input: InputFile
  ) throws(CommandFailure) -> Int {
    guard let preset else { return 0 }
    guard preset.formats.contains(format(of: image)) else {
      let format = preset.formats[0]
      throw .usage(
        "\(preset.name) requires \(format.nameWithArticle): choose an output that ends in "
          + ".\(format.fileExtension), or --format \(format.rawValue)")
    }
    do throws(AnimatedImageError) {
      return try preset.apply(to: &edits, &options, of: image)
    } catch {
      let choosesPlays = self.edits.playCount != nil
      throw CommandFailure(
        meeting: error, file: input.name,
        advice: preset.advice(
          error, isPinned: form.budget?.keepsSize == true, isScaled: rendering != nil,
          choosesPlays: choosesPlays,
          isPlayTooLong: !choosesPlays || isPlayTooLong(for: preset, edits, options, of: image)))
    }
  }

  /// Returns advice for a planned output that does not meet the preset.
  private func adviceOnOutput(_ error: AnimatedImageError) -> String {
    switch error.limit?.kind {
    case .outputSides: "leave out --size"
    case .outputDuration where form.keepsShortDelays: "leave out --exact-delays"
    case .outputDuration where policy != .browser: "leave out --timing"
    case .outputDuration: "shorten it with --time"
    default: "change their number with --fps or --frames"
    }
  }

  /// Advice for a file that does not fit: what `--pin` excludes, unless the site excludes it as well. Nil if there is
  /// nothing.
  private var adviceOnPins: String? {
    guard let budget = form.budget else { return nil }
    var excluded: [(pin: String, changes: String)] = []
    if budget.keepsSize, preset?.allowsSmaller ?? true {
      excluded.append(("size", "smaller pictures"))
    }
    if budget.keepsFrameRate, preset?.allowsFewer ?? true {
      excluded.append(("fps", "fewer frames"))
    }
    guard !excluded.isEmpty else { return nil }
    return "leave out --pin \(excluded.map { $0.pin }.joined(separator: ",")), which excludes "
      + excluded.map { $0.changes }.joined(separator: " and ")
  }

  /// Returns whether one play of the edited animation takes longer than `preset` allows, whatever the number of plays.
  private func isPlayTooLong(
    for preset: UploadPreset, _ edits: [AnimationEdit], _ options: EditOptions,
    of image: AnimatedImage
  ) -> Bool {
    var (edits, options) = (edits, options)
    edits.removeAll { if case .playCount = $0.kind { true } else { false } }
    do throws(AnimatedImageError) {
      _ = try preset.apply(to: &edits, &options, of: image)
      return false
    } catch {
      return error.limit?.kind == .outputDuration
    }
  }

  /// Returns the options that may make a file of scaled pictures smaller, each of which can be combined with those that
  /// were given.
  private func smallerChoices(_ format: AnimationFormat) -> [String] {
    var choices: [String] = []
    let colors = form.reduction.colors
    if colors != .exact {
      if colors.limit ?? 256 > 32 { choices.append("--colors 32") }
      if form.reduction.dithering != Dithering.none, format.hasPalettes || colors.limit != nil {
        choices.append("--dither none")
      }
    }
    if let rendering, rendering.filter != .nearest { choices.append("--filter nearest") }
    return choices
  }

  /// Throws if the scaled pictures would be larger than a canvas may be.
  private func check(_ image: AnimatedImage, _ input: InputFile) throws(CommandFailure) {
    guard let rendering else { return }
    let canvas =
      edits.crop.map { PixelRect(image.canvasSize).intersection($0).size } ?? image.canvasSize
    guard !canvas.isEmpty else { return }
    try rendering.check(canvas: canvas, options: image.options, file: input.name)
  }

  /// Returns the format of the output for `image`.
  func format(of image: AnimatedImage) -> AnimationFormat {
    form.format ?? image.format.outputFormat
  }
}

extension UploadPreset {
  /// Whether pictures may be smaller than the site allows.
  fileprivate var allowsSmaller: Bool { if case .within = size { true } else { false } }

  /// Whether the site allows any number of frames that is not too large.
  fileprivate var allowsFewer: Bool { frames?.lowerBound ?? 1 <= 1 }

  /// Returns advice for an animation that cannot be made to meet the preset, or nil if there is none.
  ///
  /// - Parameters:
  ///   - isPinned: Whether pictures have to keep their size.
  ///   - isScaled: Whether the size of the pictures was chosen.
  ///   - choosesPlays: Whether the number of plays was chosen.
  ///   - isPlayTooLong: Whether even one play takes too long.
  fileprivate func advice(
    _ error: AnimatedImageError, isPinned: Bool, isScaled: Bool, choosesPlays: Bool,
    isPlayTooLong: Bool
  ) -> String? {
    switch (error.limit?.kind, size) {
    case (.outputFrames, _) where error.limit.map { $0.found > $0.allowed } ?? false:
      "leave out --pin fps, or keep fewer with --frames"
    case (.outputSides, .exactly(let width, let height)) where !isPinned:
      "--size \(width)x\(height) --fit fill crops them"
    case (.outputSides, _) where isScaled: "leave out --size"
    case (.outputSides, _) where isPinned: "leave out --pin size"
    case (.outputDuration, _) where !isPlayTooLong: "leave out --plays"
    case (.outputDuration, _):
      "shorten it with --time, or speed it up with --duration \(seconds ?? 0)s"
        + (choosesPlays && plays != nil ? ", and leave out --plays" : "")
    case (.outputFrames, _): "choose an animation with more frames"
    default: nil
    }
  }
}

extension CommandFailure {
  /// Creates the failure for an animation that does not meet a preset.
  fileprivate init(meeting error: AnimatedImageError, file: String, advice: String?) {
    guard error.code == .limitExceeded else {
      self.init(error, file: file, damage: .salvage)
      return
    }
    self.init(.budget, code: "preset", error.detail, file: file)
    self.advice = advice
  }

  /// Creates the failure for an output that is not written. If a GIF cannot store the pictures, the message also
  /// suggests a format that can.
  ///
  /// - Parameter isScaled: Whether pictures are scaled in a way that adds colours.
  init(
    planning error: AnimatedImageError, file: String, damage: DamagePolicy, isScaled: Bool = false
  ) {
    if let failure = Self.interruption("interrupted, nothing was written", file: file) {
      self = failure
      return
    }
    self.init(error, file: file, damage: damage)
    guard error.code == .unwritable, error.format?.hasPalettes == true else { return }
    advice =
      "choose an APNG (a name ending in .png, or --format apng)"
      + (isScaled ? ", or --filter nearest, which adds no colours" : "")
  }

  /// Whether the output is the cause of the failure, so that other outputs would fail as well.
  var isOfOutput: Bool { status == .cannotWrite && code != "unwritable" }
}
