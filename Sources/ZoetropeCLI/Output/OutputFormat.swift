import ArgumentParser
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// Checks the extension of an output's name against the output format.
enum FileEnding {
  /// Extensions of formats that the tool does not write.
  private static let others: Set<String> = [
    "avi", "avif", "bmp", "gif", "heic", "ico", "jpe", "jpeg", "jpg", "jxl", "m4v", "mkv", "mov",
    "mp4", "pdf", "ppm", "svg", "tga", "tif", "tiff", "webm", "webp",
  ]

  /// Returns whether programs take a file whose name ends in `.ending` for something other than an animation that the
  /// tool writes.
  static func isForeign(_ ending: String) -> Bool {
    let word = ending.lowercased()
    guard AnimationFormat(fileExtension: word) == nil else { return false }
    return others.contains(word) || ExtractionFormat(rawValue: word) != nil
  }

  /// Throws if the name of an output has the extension of another format, because programs would fail to open the file.
  /// If `template` ends in `{name}` or `{stem}`, that extension comes from the name of one of `inputs`.
  static func check(
    _ template: OutputTemplate, _ format: ExtractionFormat, for inputs: [InputFile] = []
  ) throws(CommandFailure) {
    switch template.tokens.last {
    case .text(let bytes)?: try check(bytes, format)
    case .name?:
      let advice = "; replace {name} with {stem}.\(format.rawValue)"
      for input in inputs { try check(input.fullStem, format, advice: advice) }
    case .stem?:
      let advice = "; add .\(format.rawValue) to the output name"
      for input in inputs { try check(input.stem, format, advice: advice) }
    default: break
    }
  }

  private static func check(
    _ name: [UInt8], _ format: ExtractionFormat, advice: String = ""
  ) throws(CommandFailure) {
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return }
    let ending = String(decoding: name[(dot + 1)...], as: UTF8.self)
    let word = ending.lowercased()
    let isPNG = ["png", "apng"].contains(word)
    let other = [ExtractionFormat.y4m, .ffconcat, .tar].first {
      $0.rawValue == word && $0 != format
    }
    guard others.contains(word) || format != .png && isPNG || other != nil else { return }
    throw .usage(
      "the output is \(format.content), but its name ends in .\(ending)"
        + (other.map { "; use --format \($0.rawValue)" } ?? advice))
  }
}

/// The output format of a single picture.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case png, rgba
}

/// The output format of an animation's frames.
enum ExtractionFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  /// One file per frame, or all frames in one stream.
  case png, rgba
  /// One uncompressed video with a constant frame rate.
  case y4m
  /// PNG files and a list of them with their durations.
  case ffconcat
  /// PNG files and one report per input, in one archive.
  case tar

  init(_ format: OutputFormat) { self = format == .png ? .png : .rgba }

  /// The extension of the file of one frame.
  var fileExtension: String { [.ffconcat, .tar].contains(self) ? "png" : rawValue }

  /// The content of the output, as messages call it.
  var content: String {
    switch self {
    case .png: "PNG"
    case .rgba: "raw pixels"
    case .y4m: "video"
    case .ffconcat: "a list of frames"
    case .tar: "an archive"
    }
  }
}
