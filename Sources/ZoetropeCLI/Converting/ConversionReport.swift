import Zoetrope
import ZoetropeProcess

/// The report of `convert` or `make` about one output, as a line of text or as a JSON object.
struct ConversionReport {
  static let schema = "zoetrope.conversion/1"

  /// The input, or nil if there are several inputs.
  var input: InputFile?
  let output: FileName
  let format: AnimationFormat
  /// The number of bytes of the input, or of all inputs together.
  let inputByteCount: Int
  /// The number of bytes of the output, or nil if the output is not written.
  var byteCount: Int?
  let size: PixelSize
  let playCount: PlayCount
  let steps: [ConversionStep]
  var departures: [Departure]
  /// The number of encoded frames whose colours are reduced, or nil if it is not known before they are encoded.
  var reducedCount: Int?
  var damage: [Damage] = []
  /// The part of the crop rectangle that is on the canvas, or nil if the whole rectangle is on the canvas.
  var clipped: PixelRect?
  /// The format of the input if the name of the input implies another one, which is that of the output. Otherwise nil.
  var disguised: AnimationFormat?
  /// Whether the input has palettes, and the output stores the colours between them that scaling adds.
  var storesAddedColors = false
  /// Whether the pictures of the output have more pixels than those of the input.
  var isEnlarged = false
  /// The options that may make the output smaller if its pictures are scaled.
  var smallerChoices: [String] = []
  /// Whether the report is a plan, which lists every frame.
  let isPlan: Bool

  private func count(_ action: ConversionStep.Action) -> Int { steps.count { $0.action == action } }

  /// The number of frames whose compressed pixels are copied.
  private var copiedCount: Int { count(.copied) + count(.patched) }

  /// The report as text: one line, and for a plan a further line for each run of frames that are made in the same way.
  var text: String {
    let source = input.map { "\($0.name.sanitized): " } ?? ""
    var line = "\(source)\(output.text.sanitized), \(format.rawValue.uppercased()), \(size), "
    line += byteCount.map { Self.sizes(inputByteCount, $0) + ", " } ?? ""
    line += "\(steps.count.counted("frame")): "
    if input != nil { line += "\(copiedCount) copied, " }
    line += "\(count(.encoded)) encoded; "
    line += departures.words(isDamaged: damage.contains { !$0.kind.isTolerated })
    if format.hasPalettes, departures.contains(.scaled), !departures.reduceColors {
      line += ", colours kept"
    }
    return line + "\n" + (isPlan ? ConversionStep.text(steps) : "")
  }

  /// Prints warnings about effects that the user may not expect.
  func warn() {
    let name = (input?.name ?? output.text).sanitized
    for case .transparency(let share, isMatte: false) in departures {
      let percent = max(share * 100, 0.1)
      let number = percent < 10 ? "\((percent * 10).rounded(.down) / 10)" : "\(Int(percent))"
      FileDescriptor.note(
        "zoetrope: warning: \(name): partly transparent pixels, \(number) % of the picture, became "
          + "opaque or transparent; --matte blends them with a colour\n")
    }
    if let disguised {
      FileDescriptor.note(
        "zoetrope: warning: \(name): the file is \(disguised.rawValue.uppercased()); the output is "
          + "\(format.rawValue.uppercased()), as the name of the file says\n")
    }
    if let clipped {
      FileDescriptor.note(
        "zoetrope: warning: \(name): --crop reaches beyond the canvas; only \(clipped) is kept\n")
    }
    if let byteCount, departures.contains(.scaled), !isEnlarged, byteCount > inputByteCount,
      // Frames that occur twice may take twice the bytes.
      Set(steps.map(\.source)).count == steps.count
    {
      let others = smallerChoices.dropLast().joined(separator: ", ")
      let advice = smallerChoices.last.map {
        "; \(others)\(others.isEmpty ? "" : " or ")\($0) may make it smaller"
      }
      let reason =
        storesAddedColors && !departures.reduceColors
        ? "\(format.nameWithArticle) stores all the colours that scaling adds"
        : "scaled pixels compress worse"
      FileDescriptor.note(
        "zoetrope: warning: \(name): the output is larger than the input, since \(reason)"
          + "\(advice ?? "")\n")
    }
  }

  /// Returns the byte counts before and after a command, and the change in percent.
  static func sizes(_ before: Int, _ after: Int) -> String {
    guard before > 0 else { return "\(before) -> \(after) bytes" }
    let exact = 100 * Double(after) / Double(before) - 100
    // Small changes are shown with a decimal, so that only equal sizes show 0 percent and only an empty output shows
    // -100 percent.
    let isEnd = abs(exact) < 0.5 || exact < -99.5
    let tenths = (10 * exact).rounded(exact < -99.5 ? .up : .awayFromZero) / 10
    let number = exact == 0 ? "0" : isEnd ? "\(tenths)" : "\(Int(exact.rounded()))"
    return "\(before) -> \(after) bytes (\(exact > 0 ? "+" : "")\(number) %)"
  }

  /// The report as a line of JSON.
  var json: [UInt8] {
    CommandRunner.line { json in
      json.object { json in
        json.field("schema", Self.schema)
        if let input { json.field("file", input.fileName, base64Key: "file_base64") }
        json.field("output", output, base64Key: "output_base64")
        json.field("written", byteCount != nil)
        json.field("format", format.rawValue)
        json.field("bytes_before", inputByteCount)
        json.field("byte_count", byteCount)
        json.field("width", size.width)
        json.field("height", size.height)
        json.object("loop") { AnimationReport.write(playCount, to: &$0) }
        json.field("frame_count", steps.count)
        json.field("copied", count(.copied))
        json.field("patched", count(.patched))
        json.field("encoded", count(.encoded))
        if let reducedCount { json.field("reduced", reducedCount) }
        json.field("exact", departures.isEmpty)
        json.array("departures") { for item in departures { $0.string(item.code.rawValue) } }
        departures.writeNumbers(to: &json)
        json.array("damage") { for item in damage { AnimationReport.write(item, to: &$0) } }
        if isPlan { json.array("frames") { frames(&$0) } }
      }
    }
  }

  private func frames(_ json: inout JSONWriter) {
    for (place, step) in steps.enumerated() {
      json.object { json in
        json.field("index", place)
        json.field("source", step.source)
        json.fraction("delay", Int(step.delay.numerator), Int(step.delay.denominator))
        json.field("action", step.action.rawValue)
        if let rect = step.rect { json.field("rect", [rect.x, rect.y, rect.width, rect.height]) }
        if let reason = step.reason { json.field("reason", reason) }
        if step.reducesColors { json.field("reduced", true) }
      }
    }
  }
}

/// The way in which a command that writes animations reports its work.
struct ConversionReporting: Hashable {
  var isJSON = false
  var isQuiet = false
  var progress = ProgressStyle.auto

  /// Prints `report`. If standard output is the animation itself, prints the text on standard error.
  ///
  /// - Returns: Whether the command should go on. A plan is of no use if nobody reads it.
  @discardableResult
  func tell(
    _ report: ConversionReport, isOutputStandard: Bool
  ) throws(CommandFailure) -> Delivery {
    if report.isPlan {
      return try OutputStream.print(
        isJSON ? report.json : Array(report.text.utf8), stopsOnSignal: false)
    }
    try tell(text: report.text, json: report.json, isOutputStandard: isOutputStandard)
    return .complete
  }

  /// Prints the report about a file that was written. If nobody reads the reports any more, the other files are still
  /// written.
  func tell(
    text: String, json: [UInt8], isOutputStandard: Bool
  ) throws(CommandFailure) {
    if isJSON {
      try OutputStream.print(json, stopsOnSignal: false)
    } else if isOutputStandard, !isQuiet {
      FileDescriptor.note(text)
    } else if !isQuiet {
      try OutputStream.print(Array(text.utf8), stopsOnSignal: false)
    }
  }

  /// The status of one input, whether its report reached its reader, the number of frames of its output, and the number
  /// of bytes before and after, or nil if nothing is written.
  typealias Outcome = (ExitStatus, Delivery, frames: Int, bytes: (before: Int, after: Int)?)

  /// Calls `body` for each input except those at the indices `kept`, whose outputs already exist. These inputs are only
  /// scanned, with `options`. If an input fails, the other inputs are still processed. If output fails, the command
  /// ends.
  func forEach(
    _ inputs: [InputFile], keeping kept: Set<Int>, options: DecodingOptions,
    schema: String = ConversionReport.schema,
    _ body: (InputFile, Int, ProgressReporter) throws(CommandFailure) -> Outcome
  ) throws(CommandFailure) -> ExitStatus {
    var statuses: [ExitStatus] = []
    var (writtenCount, keptCount, failedCount, before, after) = (0, kept.count, 0, 0, 0)
    let reporter = self.reporter(of: inputs)
    defer {
      reporter.clear()
      if progress == .json, !isQuiet {
        reporter.summarize()
      } else if inputs.count > 1 || !kept.isEmpty, !isQuiet, !isJSON, writtenCount + keptCount > 0 {
        FileDescriptor.note(
          "\(writtenCount.grouped) file\(writtenCount == 1 ? "" : "s") written"
            + (keptCount == 0 ? "" : ", \(keptCount.grouped) kept")
            + (failedCount > 0 ? ", \(failedCount.grouped) failed" : "")
            + (writtenCount > 0 ? "; " + ConversionReport.sizes(before, after) : "") + "\n")
      }
    }
    for (place, input) in inputs.enumerated() {
      let isKept = kept.contains(place)
      reporter.enter("open")
      reporter.begin(place)
      do throws(CommandFailure) {
        if isKept {
          let status = try keep(input, options, reporter)
          statuses.append(status)
          reporter.end(InputCondition(hasLosses: status != .success))
          continue
        }
        let (status, delivery, frames, bytes) = try body(input, place, reporter)
        statuses.append(status)
        reporter.end(
          InputCondition(hasLosses: status != .success), frames: frames, bytes: bytes?.after ?? 0)
        if let bytes {
          writtenCount += 1
          before += bytes.before
          after += bytes.after
        }
        // If the reader of the output has gone away, earlier failures still determine the status.
        if delivery == .readerGone { return .combined(statuses) }
      } catch {
        reporter.clear()
        reporter.end(InputCondition(error))
        if isJSON, Signals.ending == nil {
          let failure = error
          let line = CommandRunner.line { failure.write(to: &$0, schema: schema, of: input) }
          try OutputStream.print(line)
        } else {
          var failure = error
          let rest = (place + 1..<inputs.count).count { !kept.contains($0) }
          if Signals.ending != nil, rest > 0, !isKept {
            failure.message = "interrupted, this file and \(rest.grouped) more were not written"
          }
          failure.report(asJSON: isJSON)
        }
        if Signals.ending != nil || error.isOfOutput {
          reporter.isCutShort = true
          return error.status
        }
        statuses.append(error.status)
        failedCount += 1
        if isKept { keptCount -= 1 }
      }
    }
    return .combined(statuses)
  }

  /// Scans an input whose output an earlier run has written, and reports damage in its structure, so that a resumed
  /// command does not end as if its inputs were whole.
  ///
  /// Frames are not decoded: that would find more damage, but may take longer than all that is left to do.
  private func keep(
    _ input: InputFile, _ options: DecodingOptions, _ reporter: ProgressReporter
  ) throws(CommandFailure) -> ExitStatus {
    let losses = try input.open(options).damage.filter { !$0.kind.isTolerated }
    reporter.clear()
    if !isQuiet {
      // There is no report of this file that could list the damage.
      for item in losses { CommandRunner.report(item, of: input, asJSON: isJSON) }
    }
    return losses.isEmpty ? .success : .partial
  }

  /// Creates the reporter of a command with these inputs. There are none if the command processes its inputs together.
  func reporter(of inputs: [InputFile] = []) -> ProgressReporter {
    ProgressReporter(
      style: isQuiet ? .none : progress, inputs: inputs, phase: "open", writes: true)
  }
}
