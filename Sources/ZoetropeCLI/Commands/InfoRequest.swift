import Zoetrope

/// `zoetrope info` as a value: what to read and how to print it.
struct InfoRequest: Hashable {
  var files: [String]
  var isJSON = false
  var showsFrames = false
  var showsMetadata = false
  var policy = DelayPolicy.browser
  var options = DecodingOptions()

  /// Prints a report for every file that can be opened, and an error for every other one.
  func run() -> ExitStatus {
    var statuses: [ExitStatus] = []
    var json = JSONWriter()
    var text = ""
    func add(_ json: inout JSONWriter) {
      for file in files where SignalFlag.status == nil {
        let input = InputFile(file)
        do throws(CommandFailure) {
          let report = AnimationReport(
            file: input.name, image: try input.open(options, isOnlyScanned: true), policy: policy)
          statuses.append(.success)
          if isJSON {
            report.write(to: &json)
          } else {
            text += report.text(showsFrames: showsFrames, showsMetadata: showsMetadata)
          }
        } catch {
          statuses.append(error.status)
          CommandRunner.report(error, asJSON: isJSON)
        }
      }
    }
    // One file gives one object, several an array, whichever of them can be opened.
    if files.count > 1 { json.array(add) } else { add(&json) }
    let output = isJSON ? json.bytes + (json.bytes.isEmpty ? [] : [0x0a]) : Array(text.utf8)
    do throws(CommandFailure) {
      try CommandRunner.print(output)
    } catch {
      if error.status != .success { CommandRunner.report(error, asJSON: isJSON) }
      return error.status
    }
    return SignalFlag.status ?? .combined(statuses)
  }
}
