import ArgumentParser
import Zoetrope

/// The words of `--loops`: a number of plays, `file` or `inf`.
enum LoopsArgument: ExpressibleByArgument, Hashable {
  case file
  case count(PlayCount)

  init?(argument: String) {
    switch argument {
    case "file": self = .file
    case "inf": self = .count(.indefinite)
    default:
      guard let plays = Int(argument), plays > 0 else { return nil }
      self = .count(.finite(plays))
    }
  }

  var defaultValueDescription: String { "file" }

  /// For the library; nil takes the file's.
  var playCount: PlayCount? {
    if case .count(let count) = self { return count }
    return nil
  }
}

/// The words of `--start`: a frame, negative from the end, or a time with its unit.
enum StartArgument: ExpressibleByArgument, Hashable {
  case frame(FrameNumber)
  case time(Duration)

  init?(argument: String) {
    if let number = FrameNumber(argument) {
      self = .frame(number)
    } else if argument.hasSuffix("s"), let time = TimeRange.time(argument[...]) {
      self = .time(time)
    } else {
      return nil
    }
  }

  /// The frame of `image` that is meant.
  func index(in image: AnimatedImage, policy: DelayPolicy) -> Int {
    switch self {
    case .frame(let number): number.index(count: image.frames.count)
    case .time(let time): image.frameIndex(at: time, policy: policy)
    }
  }
}

/// The words of `--late`.
struct LateArgument: ExpressibleByArgument, Hashable {
  let policy: LatePolicy

  init(policy: LatePolicy) { self.policy = policy }

  init?(argument: String) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    switch (parts.first, parts.count) {
    case ("skip", 1), ("drop", 1): policy = .skip
    case ("stretch", 1), ("keep", 1): policy = .stretch
    case ("latest", 1): policy = .latest
    case ("catchup", 1): policy = .catchUp(maximumRate: 2)
    case ("catchup", 2):
      guard let rate = Double(parts[1]), rate > 1, PlayCommand.speeds.contains(rate) else {
        return nil
      }
      policy = .catchUp(maximumRate: rate)
    default: return nil
    }
  }

  var defaultValueDescription: String { "\(policy)" }
}
