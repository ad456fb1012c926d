import SystemPackage
import Zoetrope

/// The extraction of one file: decodes in order, hands each frame to the ``FrameWriter``.
struct FileExtraction {
  struct Result {
    let status: ExitStatus
    let report: AnimationReport
    /// Why output stopped, if it did.
    let failure: CommandFailure?
    /// Whether the reader of standard output has gone.
    let outputIsGone: Bool
  }

  private let input: InputFile
  private let request: ExtractRequest
  private let image: AnimatedImage
  private let plan: ExtractionPlan
  private let stream: OutputStream
  /// Whether each output of the plan is already there and is to stay.
  private let isFinished: [Bool]

  /// Opens the file, settles every output name, and looks at what is there already.
  init(
    input: InputFile, request: ExtractRequest, destination: OutputDestination,
    stream: OutputStream
  ) throws(CommandFailure) {
    self.input = input
    self.request = request
    self.stream = stream
    var options = request.options
    // Encoding a PNG takes some ten times as long as decoding its frame.
    options.parallelism =
      request.format == .png ? (request.threadCount + 7) / 8 : request.threadCount
    image = try input.open(options)
    plan = try ExtractionPlan(
      image: image, input: input, request: request, destination: destination)
    isFinished = try Self.prepare(plan, request)
    try refuseOlderOutputs()
  }

  /// Makes directories, removes what dead runs left, and refuses to overwrite.
  private static func prepare(
    _ plan: ExtractionPlan, _ request: ExtractRequest
  ) throws(CommandFailure) -> [Bool] {
    do throws(WriteFailure) {
      for directory in plan.directories {
        try OutputFile.makeDirectory(directory)
        OutputFile.sweep(directory)
      }
      var finished: [Bool] = []
      for output in plan.outputs {
        let isTaken = !request.isForced && output.path.map(OutputFile.isTaken) ?? false
        if isTaken, !request.isResuming { throw .exists(output.path.map { "\($0)" } ?? "-") }
        finished.append(isTaken)
      }
      return finished
    } catch {
      if case .exists(let name) = error {
        throw CommandFailure(
          .cannotWrite, code: "exists",
          "\(name) exists; --force replaces it, --resume keeps it and goes on")
      }
      throw error.commandFailure ?? CommandFailure(.success, code: "closedPipe", "")
    }
  }

  /// Refuses to go on from frames that cannot be of this file: it has been written since.
  private func refuseOlderOutputs() throws(CommandFailure) {
    guard let source = input.path else { return }
    for (output, isFinished) in zip(plan.outputs, isFinished) where isFinished {
      guard let path = output.path, OutputFile.isOlder(path, than: source) else { continue }
      throw CommandFailure(
        .cannotWrite, code: "stale",
        "\(path) is older than \(input.name); --force writes all frames anew", file: input.name)
    }
  }

  func run() -> Result {
    let writer = FrameWriter(
      jobs: min(request.threadCount, isFinished.count { !$0 }),
      context: FrameWriter.Context(
        format: request.format, metadata: image.metadata, isReplacing: request.isForced,
        stream: stream))
    var progress = ProgressReporter(
      style: request.isQuiet ? .none : request.progress, total: plan.outputs.count)
    var frameDamage: [Damage] = []
    let known = Set(image.damage)
    var decodingFailure: CommandFailure?
    let frames = FrameSource(
      image: image, isRaw: request.isRaw, rendering: request.rendering,
      hasRepeats: request.rate != nil)
    // Places count written frames only, so that standard output can wait for the next one.
    var places: [Int] = []
    submitting: for (number, output) in plan.outputs.enumerated() where !isFinished[number] {
      if SignalFlag.status != nil { break }
      do throws(AnimatedImageError) {
        let found = try frames.frame(at: output.index)
        guard let frame = found else { continue }
        if let damage = frame.damage, !known.contains(damage), frameDamage.last != damage {
          frameDamage.append(damage)
        }
        do throws(WriteFailure) {
          let job = FrameJob(place: places.count, bitmap: frame.bitmap, path: output.path)
          places.append(number)
          try writer.submit(job)
        } catch {
          break submitting
        }
        progress.update(writer.progress)
      } catch {
        decodingFailure = CommandFailure(error, file: input.name, damage: image.options.damage)
        break
      }
    }
    let (written, failure) = writer.finish()
    progress.finish(writer.progress)
    let kept = isFinished.count { $0 } + written.count
    var report = AnimationReport(
      file: input.name, image: image, policy: .browser,
      outputs: outputs(places: places, written: written))
    report.frameDamage = frameDamage
    report.outputSize = request.rendering.map {
      Rendition($0, of: image.canvasSize, options: image.options).size
    }
    return result(report, written: kept, writing: failure, decoding: decodingFailure)
  }

  private func result(
    _ report: AnimationReport, written: Int, writing: WriteFailure?, decoding: CommandFailure?
  ) -> Result {
    let stop = SignalFlag.status.map { status in
      let way = plan.directories.isEmpty ? "" : "; --resume goes on"
      return CommandFailure(
        status, code: "interrupted",
        "interrupted, \(written) of \(plan.outputs.count) frames written\(way)", file: input.name)
    }
    // A writer that a signal stopped knows less of it.
    let failure = stop ?? writing.flatMap(\.commandFailure) ?? decoding
    if !request.isQuiet {
      for item in report.damage where !item.kind.isTolerated {
        FileDescriptor.note("zoetrope: \(input.name.sanitized): \("\(item)".sanitized)\n")
      }
    }
    let status = failure?.status ?? (report.hasLosses ? .partial : .success)
    return Result(
      status: status, report: report, failure: failure, outputIsGone: writing == .closedPipe)
  }

  /// What is there now for each frame, by index: written in this run, or kept from an earlier one.
  private func outputs(places: [Int], written: [Int: WrittenFrame]) -> [Int: WrittenFrame] {
    var outputs: [Int: WrittenFrame] = [:]
    for (place, number) in places.enumerated() {
      if let index = plan.outputs[number].index { outputs[index] = written[place] }
    }
    for (number, output) in plan.outputs.enumerated() where isFinished[number] {
      guard let index = output.index, let path = output.path else { continue }
      outputs[index] = WrittenFrame(
        name: "\(path)", byteCount: OutputFile.byteCount(of: path) ?? 0)
    }
    return outputs
  }
}
