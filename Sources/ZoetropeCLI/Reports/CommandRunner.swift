import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The report about one input.
struct InputOutcome {
  let status: ExitStatus
  /// The report, for standard output.
  let output: [UInt8]
  let condition: InputCondition
  let frameCount: Int
}

/// How commands report results and failures.
enum CommandRunner {
  /// Reports damage in `input` on standard error, as text or as JSON.
  static func report(_ damage: Damage, of input: InputFile, asJSON: Bool) {
    if asJSON {
      let line = line { json in
        json.object { json in
          json.object("damage") {
            $0.field("file", input.fileName, base64Key: "file_base64")
            AnimationReport.writeFields(of: damage, to: &$0)
          }
        }
      }
      FileDescriptor.note(String(decoding: line, as: UTF8.self))
    } else {
      FileDescriptor.note(
        "zoetrope: warning: \(input.name.sanitized): \(damage.sentence.sanitized)\n")
    }
  }

  /// The output of `body` as a line.
  static func line(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
    var json = JSONWriter()
    body(&json)
    return json.bytes + [0x0a]
  }

  /// Prints the report for each input as soon as it is done, so that an interruption loses no finished report.
  ///
  /// A failure is printed as an object of `schema` in the input's place if `asJSON`, else as a line on standard
  /// error.
  ///
  /// - Parameter isBrief: Whether a summary is printed only if an input failed, because the reports are short.
  static func forEach(
    _ inputs: [InputFile], asJSON: Bool, schema: String, isBrief: Bool = false,
    _ report: (InputFile, ProgressReporter) throws(CommandFailure) -> InputOutcome
  ) -> ExitStatus {
    let progress = ProgressReporter(style: .auto, inputs: inputs)
    defer {
      // Programs find every outcome in the reports.
      if asJSON { progress.clear() } else { progress.summarize(isQuiet: isBrief) }
    }
    var statuses: [ExitStatus] = []
    for input in inputs {
      var output: [UInt8] = []
      progress.begin()
      do throws(CommandFailure) {
        let outcome = try report(input, progress)
        output = outcome.output
        statuses.append(outcome.status)
        progress.end(outcome.condition, frames: outcome.frameCount)
      } catch {
        statuses.append(error.status)
        progress.end(InputCondition(error))
        progress.clear()
        if Signals.ending != nil || !asJSON { error.report(asJSON: asJSON) }
        if let status = Signals.ending { return status }
        if asJSON { output = line { error.write(to: &$0, schema: schema) } }
      }
      do throws(CommandFailure) {
        progress.clear()
        // The reader has gone away, but earlier failures still count.
        // A signal that has arrived since the report was finished does not stop it. A second one would end the process.
        if try OutputStream.print(output, stopsOnSignal: false) == .readerGone {
          return Signals.ending ?? .combined(statuses)
        }
        if let status = Signals.ending { throw WriteFailure.stopped(status).commandFailure }
      } catch {
        error.report(asJSON: asJSON)
        return error.status
      }
    }
    return .combined(statuses)
  }
}
