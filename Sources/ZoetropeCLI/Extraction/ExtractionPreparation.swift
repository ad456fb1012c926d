import SystemPackage
import Zoetrope

/// One input of `extract` before anything is written.
struct ExtractionPreparation {
  let input: InputFile
  let destination: OutputDestination
  /// Nil until the file has been opened, and again when it is to be opened later.
  var image: AnimatedImage?
  /// Nil where outputs have no names, and are settled when the file is opened.
  var plan: ExtractionPlan?
  /// Whether each output of the plan is already there and is to stay.
  var isFinished: [Bool] = []
  /// Why the file cannot be extracted, told when its turn comes.
  var failure: CommandFailure?

  init(input: InputFile, destination: OutputDestination) {
    (self.input, self.destination) = (input, destination)
  }

  /// Opens the file and settles what its outputs are called.
  mutating func scan(for request: ExtractRequest) throws(CommandFailure) {
    let image = try input.open(request.decodingOptions)
    self.image = image
    let plan = try ExtractionPlan(
      image: image, input: input, request: request, destination: destination)
    self.plan = plan
    isFinished = plan.outputs.map { _ in false }
  }

  /// Refuses names that are taken: by another output, by an input, by a file that is to stay.
  mutating func check(
    names: inout OutputNames, avoiding identities: InputIdentities, for request: ExtractRequest
  ) throws(CommandFailure) {
    guard let plan else { return }
    for (number, output) in plan.outputs.enumerated() {
      guard let path = output.path else { continue }
      guard names.insert(path) else {
        throw .usage(
          request.files.count > 1
            ? "two outputs would be called \(path); put a mark between {stem} and {index} in the "
              + "output name, or extract the files to different directories"
            : "two outputs would be called \(path); put {index} into the output name")
      }
      try identities.check(path)
      guard !request.isForced, OutputFile.isTaken(path) else { continue }
      guard request.isResuming else {
        throw CommandFailure(
          .cannotWrite, code: "exists",
          "\(path) exists; --force replaces it, --resume keeps it and goes on")
      }
      // Frames that were written before the input was last changed cannot be of this input.
      if let source = input.path, OutputFile.isOlder(path, than: source) {
        throw CommandFailure(
          .cannotWrite, code: "stale",
          "\(path) is older than \(input.name); --force writes all frames anew", file: input.name)
      }
      isFinished[number] = true
    }
  }
}
