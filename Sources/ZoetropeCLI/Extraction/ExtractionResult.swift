import Zoetrope
import ZoetropeProcess

/// The outcome of extracting one input.
struct ExtractionResult {
  let status: ExitStatus
  let report: AnimationReport
  /// Why output stopped, if it did.
  let failure: CommandFailure?
  /// Whether the reader of standard output has gone away.
  let outputIsGone: Bool

  /// Reports damage on standard error, unless the request is quiet.
  ///
  /// - Parameters:
  ///   - tally: What was written, for the message after an interruption.
  ///   - isResumable: Whether `--resume` can continue.
  ///   - writing: Why output stopped.
  ///   - decoding: Why no more frames could be decoded.
  init(
    _ report: AnimationReport, tally: String, isResumable: Bool, request: ExtractRequest,
    writing: WriteFailure?, decoding: CommandFailure?
  ) {
    let stop = Signals.ending.map { status in
      CommandFailure(
        status, code: "interrupted",
        "interrupted, \(tally) written\(isResumable ? "; continue with --resume" : "")",
        file: report.input.name)
    }
    // After a signal, the message with the tally takes precedence over the writer's failure.
    outputIsGone = writing == .closedPipe
    failure = stop ?? (outputIsGone ? nil : writing?.commandFailure) ?? decoding
    if !request.isQuiet {
      for item in report.damage where !item.kind.isTolerated {
        CommandRunner.report(item, of: report.input, asJSON: request.reportsJSON)
      }
    }
    status = failure?.status ?? (report.hasLosses ? .partial : .success)
    var report = report
    report.failure = failure
    self.report = report
  }
}
