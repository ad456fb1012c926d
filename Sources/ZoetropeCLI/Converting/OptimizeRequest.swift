import Zoetrope
import ZoetropeProcess

/// The request of one `zoetrope optimize` command.
struct OptimizeRequest: Hashable {
  var inputs: InputList
  var output: String
  var optimizing = OptimizingOptions()
  /// The maximum number of bytes of an output, or nil for no limit. Pictures may change to meet the limit.
  var byteLimit: Int?
  var isForced = false
  /// Whether inputs whose outputs exist are only scanned.
  var isResuming = false
  var reporting = ConversionReporting()
  var options = DecodingOptions()

  static let schema = "zoetrope.optimization/1"

  /// Optimises every file. If an input fails, the other inputs are still optimised. If output fails, the command ends.
  ///
  /// All names are checked before the first file is opened.
  func run() throws(CommandFailure) -> ExitStatus {
    let inputs = try self.inputs.inputs(
      outputDirectory: OutputTemplate.directory(of: output))
    let destination = try AnimationDestination(output, for: inputs, keepsFormat: true)
    if destination.places.contains(.stream(nil)), reporting.isJSON {
      throw .usage("the animation and --json cannot both go to standard output")
    }
    let kept = try destination.check(
      inputs, isInPlace: !isResuming, isForced: isForced, isResuming: isResuming)
    return try reporting.forEach(inputs, keeping: kept, options: options, schema: Self.schema) {
      (input, place, progress) throws(CommandFailure) in
      try optimize(input, to: destination, place, progress)
    }
  }

  private func optimize(
    _ input: InputFile, to destination: AnimationDestination, _ place: Int,
    _ progress: ProgressReporter
  ) throws(CommandFailure) -> ConversionReporting.Outcome {
    let image = try input.open(options)
    try destination.check(place, holds: image.format, of: input.name)
    let isInPlace =
      if case .file(let path) = destination.places[place] { input.isFile(at: path) } else { false }
    var result: OptimizedAnimation?
    _ = try AnimationWriting(
      place: destination.places[place], isReplacing: isForced, name: input.name,
      progress: progress, numbersAttempts: byteLimit != nil,
      failure: { CommandFailure($0, file: input.name, damage: options.damage) }
    ).write(frameCount: image.frames.count) { (sink, progress) throws(AnimatedImageError) in
      let isCancelled: @Sendable () -> Bool = { Signals.ending != nil }
      let found = try image.optimize(
        to: sink, options: optimizing, byteLimit: byteLimit, isInPlace: isInPlace,
        isCancelled: isCancelled, progress: progress)
      result = found
      return WrittenAnimation(
        byteCount: found.byteCount, frameCount: found.frameCount, mergedCount: 0)
    }
    guard let result else { return (.success, .complete, 0, nil) }
    let damage = image.damage + result.damage
    let losses = damage.filter { !$0.kind.isTolerated }
    if !reporting.isQuiet, !reporting.isJSON {
      for item in losses { CommandRunner.report(item, of: input, asJSON: false) }
    }
    let report = OptimizeReport(
      input: input, output: destination.name(of: place), format: image.format, result: result,
      isInPlace: isInPlace, damage: damage)
    try reporting.tell(
      text: report.text, json: report.json,
      isOutputStandard: destination.places[place] == .stream(nil))
    return (
      losses.isEmpty ? .success : .partial, .complete, result.frameCount,
      (before: result.sourceByteCount, after: result.byteCount)
    )
  }
}

/// The report of `optimize` about one output.
private struct OptimizeReport {
  let input: InputFile
  let output: FileName
  let format: AnimationFormat
  let result: OptimizedAnimation
  let isInPlace: Bool
  let damage: [Damage]

  private var isDamaged: Bool { damage.contains { !$0.kind.isTolerated } }

  var text: String {
    "\(input.name.sanitized): \(output.text.sanitized), "
      + "\(format.rawValue.uppercased()), "
      + "\(ConversionReport.sizes(result.sourceByteCount, result.byteCount)), "
      + "\(result.frameCount.counted("frame")); "
      + "\(outcome)\n"
  }

  /// What became of the pictures, in words.
  private var outcome: String {
    if result.isCopy {
      if isDamaged { return "damaged, \(copied) as it is" }
      let isStill = format.writable == nil && result.frameCount == 1
      return isStill ? "a still picture, \(copied) as it is" : "\(copied), no smaller file found"
    }
    return departures.words(isDamaged: isDamaged)
  }

  private var copied: String { isInPlace ? "left" : "copied" }

  private var departures: [Departure] {
    (result.tolerance > 0 ? [.lossy(result.tolerance)] : [])
      + (result.colors.map { [.colors($0)] } ?? []) + (result.losesMetadata ? [.metadata] : [])
  }

  var json: [UInt8] {
    CommandRunner.line { json in
      json.object { json in
        json.field("schema", OptimizeRequest.schema)
        json.field("file", input.fileName, base64Key: "file_base64")
        json.field("output", output, base64Key: "output_base64")
        json.field("format", format.rawValue)
        json.field("bytes_before", result.sourceByteCount)
        json.field("byte_count", result.byteCount)
        json.field("frame_count", result.frameCount)
        json.field("copy", result.isCopy)
        json.field("exact", departures.isEmpty)
        json.array("departures") { for item in departures { $0.string(item.code.rawValue) } }
        departures.writeNumbers(to: &json)
        json.array("damage") { for item in damage { AnimationReport.write(item, to: &$0) } }
      }
    }
  }
}
