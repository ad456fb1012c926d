import ArgumentParser
import Zoetrope

/// The values of `--effort`.
enum EffortChoice: String, ExpressibleByArgument, CaseIterable {
  case fast, `default`, small

  var effort: EncodingEffort {
    switch self {
    case .fast: .fast
    case .default: .balanced
    case .small: .small
    }
  }
}

/// Which pictures of the selected frames are written.
enum PictureChoice: Hashable, Sendable {
  case all
  /// Each distinct picture once.
  case unique
  /// Pictures that differ from the one before.
  case changed
}
