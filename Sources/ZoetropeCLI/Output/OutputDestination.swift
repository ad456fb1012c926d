import ArgumentParser
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The destination of the frames, as given with `-o`.
enum OutputDestination: Hashable, Sendable {
  /// All frames go to standard output.
  case standardOutput
  /// All frames go to one pipe or device.
  case stream(FilePath)
  /// Each frame gets its own file.
  case files(OutputTemplate)

  /// Whether all frames go to one output, instead of a file for each frame.
  var isStream: Bool { if case .files = self { false } else { true } }

  /// Parses the value of `-o`.
  ///
  /// `-` is standard output, and an existing pipe or device is a stream. Text with placeholders is a template.
  /// An existing directory, or a name that ends in a slash or has no extension, is a directory whose files are
  /// named by ``OutputTemplate/files(inDirectory:for:)``. Anything else names one file.
  init(
    parsing argument: [UInt8], format: ExtractionFormat = .png, isDirectory: ([UInt8]) -> Bool,
    isStream: ([UInt8]) -> Bool = { _ in false }
  ) throws(CommandFailure) {
    guard !argument.isEmpty else { throw .usage("the output name is empty") }
    guard argument != [UInt8(ascii: "-")] else {
      self = .standardOutput
      return
    }
    guard !isStream(argument) else {
      self = .stream(FilePath(bytes: argument))
      return
    }
    let slash = UInt8(ascii: "/")
    let exists = isDirectory(argument)
    if !exists {
      let template = try OutputTemplate(parsing: argument)
      let last = argument.split(separator: slash).last ?? []
      let isName = argument.last != slash && last.dropFirst().contains(UInt8(ascii: "."))
      if template.hasTokens || isName {
        self = .files(template)
        return
      }
    }
    self = .files(.files(inDirectory: argument, for: format))
  }
}
