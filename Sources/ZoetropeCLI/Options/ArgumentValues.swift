import ArgumentParser
import Zoetrope

/// The words of `--damage`.
enum DamageChoice: String, ExpressibleByArgument, CaseIterable {
  case salvage, strict, partial

  var policy: DamagePolicy {
    switch self {
    case .salvage: .salvage
    case .strict: .strict
    case .partial: .partialRows
    }
  }
}

/// The words of `--decoder`.
enum DecoderChoice: String, ExpressibleByArgument, CaseIterable {
  case fast, reference

  var decoder: PixelDecoder { self == .fast ? .fast : .reference }
}

/// The words of `--limits`.
enum LimitsProfile: String, ExpressibleByArgument, CaseIterable {
  case `default`, strict, none

  var limits: DecodingLimits {
    switch self {
    case .default: .default
    case .strict: .strict
    case .none: .none
    }
  }
}

/// The words of `--timing`: a policy's name, or `MIN:REPLACEMENT` in milliseconds.
struct TimingArgument: ExpressibleByArgument, Hashable {
  let policy: DelayPolicy

  init(policy: DelayPolicy) { self.policy = policy }

  init?(argument: String) {
    switch argument {
    case "browser": policy = .browser
    case "exact": policy = .exact
    case "ffmpeg": policy = .ffmpeg
    case "imageio": policy = .imageIO
    case "gtk": policy = .minimum(.milliseconds(20))
    default:
      let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count == 2, let least = UInt32(parts[0]), let replacement = UInt32(parts[1])
      else { return nil }
      policy = .minimum(
        .milliseconds(Int(least)), replacement: .milliseconds(Int(replacement)))
    }
  }

  var defaultValueDescription: String { "\(policy)" }
}

extension FrameSelector: ExpressibleByArgument {
  init?(argument: String) { self.init(argument) }
}

extension TimeRange: ExpressibleByArgument {
  init?(argument: String) { self.init(argument) }
}

extension TimeArgument: ExpressibleByArgument {
  init?(argument: String) { self.init(argument) }
}

extension FrameNumber: ExpressibleByArgument {
  init?(argument: String) { self.init(argument) }
}

extension PictureRate: ExpressibleByArgument {
  init?(argument: String) { self.init(argument) }
}

/// How `extract` writes a frame.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case png, rgba
}

/// What `extract` does with a static image that is not a frame.
enum StaticImageChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
  case include, only, skip
}

/// How a long command tells of its progress.
enum ProgressStyle: String, ExpressibleByArgument, CaseIterable, Sendable {
  case auto, bar, json, none
}
