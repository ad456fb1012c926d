import SystemPackage
import Zoetrope

/// What all commands do with results and failures.
enum CommandRunner {
  /// Reports `failure` on standard error, as text or as JSON.
  static func report(_ failure: CommandFailure, asJSON: Bool) {
    if asJSON {
      FileDescriptor.note(String(decoding: failure.json, as: UTF8.self))
    } else {
      FileDescriptor.note("zoetrope: \(failure.line)\n")
    }
  }

  /// Reports damage of `input` on standard error, as text or as JSON.
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

  /// What `body` writes, as one line.
  static func line(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
    var json = JSONWriter()
    body(&json)
    return json.bytes + [0x0a]
  }

  /// Prints what `report` makes of each input, one after another and each at once, so that a reader
  /// has what is done and an end in between takes nothing back.
  ///
  /// A failure is an object of `schema` in its input's place when `asJSON`, else a line on standard
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
        if SignalFlag.status != nil || !asJSON { Self.report(error, asJSON: asJSON) }
        if let status = SignalFlag.status { return status }
        if asJSON { output = line { error.write(to: &$0, schema: schema) } }
      }
      do throws(CommandFailure) {
        try print(output)
      } catch {
        if error.status != .success { Self.report(error, asJSON: asJSON) }
        return error.status
      }
    }
    return .combined(statuses)
  }

  /// Writes `bytes` to standard output; a closed pipe is a quiet success.
  ///
  /// - Parameter stopsOnSignal: Whether a signal ends it; false for what is told because of one.
  static func print(_ bytes: [UInt8], stopsOnSignal: Bool = true) throws(CommandFailure) {
    do throws(WriteFailure) {
      try FileDescriptor.standardOutput.writeFully(
        bytes, name: "standard output", stopsOnSignal: stopsOnSignal)
    } catch {
      if let failure = error.commandFailure { throw failure }
      throw CommandFailure(.success, code: "closedPipe", "")
    }
  }
}
