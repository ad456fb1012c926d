import Zoetrope
import ZoetropeProcess

/// The outcome of extracting one input.
struct ExtractionResult {
  let status: ExitStatus
  let report: AnimationReport
  /// The reason why the extraction stopped. Nil if it is complete, or if the reader of the output has gone away.
  let failure: CommandFailure?
  /// Whether the reader of the output has gone away.
  let outputIsGone: Bool

  /// Creates the result, and reports damage on standard error unless the request is quiet.
  ///
  /// - Parameters:
  ///   - tally: The number of frames written, or "nothing was", for the message after an interruption.
  ///   - isResumable: Whether a later run can continue with `--resume`.
  ///   - writing: The reason why output stopped, or nil if it did not.
  ///   - decoding: The reason why no more frames could be decoded, or nil if all could.
  init(
    _ report: AnimationReport, tally: String, isResumable: Bool, request: ExtractRequest,
    writing: WriteFailure?, decoding: CommandFailure?
  ) {
    let stop = CommandFailure.interruption(
      "interrupted, \(tally) written\(isResumable ? "; continue with --resume" : "")",
      file: report.input.name)
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
