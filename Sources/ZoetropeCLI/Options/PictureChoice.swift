import ArgumentParser
import Zoetrope

/// A value of `--effort`.
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
  /// Only the first frame with each distinct picture.
  case unique
  /// Only frames whose picture differs from that of the previous selected frame.
  case changed
}
