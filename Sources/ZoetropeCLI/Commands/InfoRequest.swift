import Zoetrope

/// `zoetrope info` as a value: what to read and how to print it.
struct InfoRequest: Hashable {
  var files: [String]
  var isJSON = false
  var showsFrames = false
  var showsMetadata = false
  var policy = DelayPolicy.browser
  var options = DecodingOptions()

  /// Prints a report for every file that can be opened and an error for every other one, in the order
  /// of the files, each as soon as it is there.
  func run() -> ExitStatus {
    CommandRunner.forEach(files, asJSON: isJSON, schema: AnimationReport.schema) {
      input throws(CommandFailure) in
      let report = AnimationReport(
        input: input, image: try input.open(options), policy: policy)
      if isJSON { return (.success, CommandRunner.line { report.write(to: &$0) }) }
      let text = report.text(showsFrames: showsFrames, showsMetadata: showsMetadata)
      return (.success, Array(text.utf8))
    }
  }
}
