import ArgumentParser
import Zoetrope

/// The options of `extract` that decide which pictures are written, and how small.
struct PictureArguments: ParsableArguments {
  @Option(help: "How hard PNG files are made small.")
  var compression = CompressionChoice.default

  @Flag(help: "Each distinct picture once; the manifest says which frames show it.")
  var unique = false

  @Flag(help: "Only frames that differ from the one before; the manifest says where.")
  var changedOnly = false

  @Option(
    name: .customLong("bg"),
    help: "With --format y4m: what is behind transparent pixels.")
  var background: BackgroundArgument = BackgroundArgument(color: .black)

  /// Which pictures are written.
  var choice: PictureChoice { unique ? .unique : changedOnly ? .changed : .all }

  func validate() throws {
    guard !(unique && changedOnly) else {
      throw ValidationError(
        "--unique leaves out unchanged frames too: choose one of --changed-only")
    }
    guard background.color.alpha != 0 else {
      throw ValidationError("--bg is black, white or a colour such as 336699: video has no alpha")
    }
  }
}

/// The words of `--compression`.
enum CompressionChoice: String, ExpressibleByArgument, CaseIterable {
  case fast, `default`, small

  var effort: PNGEncoder.Effort {
    switch self {
    case .fast: .fast
    case .default: .balanced
    case .small: .small
    }
  }
}

/// Which of the selected frames' pictures are written.
enum PictureChoice: Hashable, Sendable {
  case all
  /// Each distinct picture once.
  case unique
  /// Those that differ from the one before.
  case changed
}
