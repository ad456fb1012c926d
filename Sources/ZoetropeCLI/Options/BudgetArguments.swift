import ArgumentParser
import Zoetrope

/// The options that make an output fit a byte limit.
struct BudgetArguments: ParsableArguments {
  @Option(parsing: .unconditional, help: .maxBytes)
  var maxBytes: ByteCountArgument?

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("Meet the limits of a site. (default: none)", valueName: "site"))
  var site: SiteArgument?

  @Option(
    help: ArgumentHelp(
      "What --max-bytes or --for must not change: size, fps or size,fps.", valueName: "what"))
  var pin: PinArgument?

  var preset: UploadPreset? { site?.preset }

  func validate() throws {
    if let site, site.preset == nil {
      if let other = UploadPreset.others.first(where: { site.name.hasPrefix($0.key) }) {
        throw ValidationError(
          "\(other.key) takes \(other.value), which zoetrope does not write; to make "
            + "\(other.value) with another program, extract PNG files or a y4m video")
      }
      throw ValidationError(
        "--for must be one of \(SiteArgument.allValueStrings.joined(separator: ", ")), "
          + "not \(site.name)")
    }
    guard maxBytes.map({ $0.count > 0 }) ?? true else {
      throw ValidationError("--max-bytes must be at least 1")
    }
    guard pin == nil || maxBytes != nil || preset != nil else {
      throw ValidationError("--pin requires --max-bytes or --for")
    }
  }

  /// The byte budget, or nil if neither `--max-bytes` nor `--for` sets a limit.
  var budget: ByteBudget? {
    guard let limit = maxBytes?.count ?? preset?.byteLimit else { return nil }
    return ByteBudget(
      byteLimit: limit, keepsSize: pin?.keepsSize ?? false,
      keepsFrameRate: pin?.keepsFrameRate ?? false)
  }
}

/// The value of `--for`. Any word is accepted here, so that the error for an unknown word can be more helpful than the
/// argument parser's.
struct SiteArgument: ExpressibleByArgument, Hashable {
  let name: String
  let preset: UploadPreset?

  init?(argument: String) {
    name = argument
    preset = UploadPreset(named: argument)
  }

  static var allValueStrings: [String] { UploadPreset.all.map(\.name) }

  static var allValueDescriptions: [String: String] {
    Dictionary(uniqueKeysWithValues: UploadPreset.all.map { ($0.name, $0.summary) })
  }
}

/// The value of `--pin`, which lists what a byte budget must not change: `size`, `fps`, or both, separated by a comma.
struct PinArgument: ExpressibleByArgument, Hashable {
  var keepsSize = false
  var keepsFrameRate = false

  init?(argument: String) {
    for word in argument.split(separator: ",", omittingEmptySubsequences: false) {
      switch word {
      case "size": keepsSize = true
      case "fps": keepsFrameRate = true
      default: return nil
      }
    }
  }

  static let allValueStrings = ["size", "fps"]
  static let allValueDescriptions = [
    "size": "the picture size", "fps": "the frame rate",
  ]
}

/// The value of `--lossy`: the tolerance for differences between colours.
struct ToleranceArgument: ExpressibleByArgument, Hashable, Sendable {
  let tolerance: Int

  init?(argument: String) {
    guard let tolerance = Int(argument), (0...200).contains(tolerance) else { return nil }
    self.tolerance = tolerance
  }
}

extension ArgumentHelp {
  /// The help of `--lossy`.
  static var lossy: Self {
    Self("How far colours may differ, 0 to 200. (default: 0)", valueName: "n")
  }

  /// The help of `--max-bytes`.
  static var maxBytes: Self {
    Self(
      "The maximum size of the output, as in 256K (1K = 1024) or 250kB. (default: no limit)",
      valueName: "bytes")
  }
}
