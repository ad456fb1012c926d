import SystemPackage
import Zoetrope
import ZoetropeProcess

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
      FileDescriptor.note("zoetrope: \(input.name.sanitized): \("\(damage)".sanitized)\n")
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
  static func forEach(
    _ files: [String], asJSON: Bool, schema: String,
    _ report: (InputFile) throws(CommandFailure) -> (ExitStatus, [UInt8])
  ) -> ExitStatus {
    var statuses: [ExitStatus] = []
    for file in files {
      var output: [UInt8] = []
      do throws(CommandFailure) {
        let status: ExitStatus
        (status, output) = try report(InputFile(file))
        statuses.append(status)
      } catch {
        statuses.append(error.status)
        if Signals.ending != nil || !asJSON { error.report(asJSON: asJSON) }
        if let status = Signals.ending { return status }
        if asJSON { output = line { error.write(to: &$0, schema: schema) } }
      }
      do throws(CommandFailure) {
        // The reader has gone away, but earlier failures still count.
        if try OutputStream.print(output) == .readerGone { return .combined(statuses) }
      } catch {
        error.report(asJSON: asJSON)
        return error.status
      }
    }
    return .combined(statuses)
  }
}
