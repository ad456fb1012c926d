import ArgumentParser
import Zoetrope

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
