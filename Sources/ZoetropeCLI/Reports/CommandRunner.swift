import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The outcome of a command for one input.
struct InputOutcome {
  let status: ExitStatus
  /// The report about the input, for standard output.
  let output: [UInt8]
  let condition: InputCondition
  let frameCount: Int
}

/// Runs commands that report on each input, and reports damage and failures.
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
      report(damage, ofFile: input.name)
    }
  }

  /// Prints a warning about `damage` in the file called `name`.
  static func report(_ damage: Damage, ofFile name: String) {
    FileDescriptor.note("zoetrope: warning: \(name.sanitized): \(damage.sentence.sanitized)\n")
  }

  /// Returns what `body` writes, as a line with a line break.
  static func line(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
    var json = JSONWriter()
    body(&json)
    return json.bytes + [0x0a]
  }

  /// Calls `report` for each input and prints each report as soon as it is complete, so that an interruption loses no
  /// complete report.
  ///
  /// If an input fails and `asJSON` is set, prints the failure as an object of `schema` in the place of the report.
  /// Otherwise prints the failure as a line on standard error.
  ///
  /// - Parameter isBrief: Whether a summary is printed only if an input failed, because the reports are short.
  static func forEach(
    _ inputs: [InputFile], asJSON: Bool, schema: String, isBrief: Bool = false,
    _ report: (InputFile, ProgressReporter) throws(CommandFailure) -> InputOutcome
  ) -> ExitStatus {
    let progress = ProgressReporter(style: .auto, inputs: inputs)
    defer {
      // Programs that read JSON find every outcome in the reports.
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
        if asJSON { output = line { error.write(to: &$0, schema: schema, of: input) } }
      }
      do throws(CommandFailure) {
        progress.clear()
        // If the reader of the output has gone away, earlier failures still determine the status. A signal that has
        // arrived since the report was completed does not stop its printing. A second signal would end the process.
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
