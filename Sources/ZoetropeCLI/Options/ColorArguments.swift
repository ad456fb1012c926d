public import ArgumentParser
public import Zoetrope

/// The options for reducing colours that a GIF cannot store, and for limiting the number of colours of an APNG.
struct ColorArguments: ParsableArguments {
  @Option(parsing: .unconditional, help: "How many colours a palette may have.")
  var colors = ColorCountArgument(policy: .automatic)

  @Option(help: "How colours outside the palette are drawn.")
  var dither = Dithering.automatic

  @Option(help: "In a GIF: blend partly transparent pixels with black, white or RRGGBB.")
  var matte: BackgroundArgument?

  func validate() throws {
    if let matte, matte.color == .clear {
      throw ValidationError("--matte takes a colour: black, white or RRGGBB")
    }
    if colors.policy == .exact, dither != .automatic || matte != nil {
      throw ValidationError(
        "--colors exact changes no pixel; it cannot be combined with --dither or --matte")
    }
  }

  /// Throws if the options contradict those for the output.
  func check(_ writing: AnimationOutputArguments) throws {
    if colors.policy == .exact, writing.lossy?.tolerance ?? 0 > 0 {
      throw ValidationError(
        "--colors exact changes no pixel; it cannot be combined with --lossy")
    }
  }

  var reduction: ColorReduction {
    ColorReduction(
      colors: colors.policy, dithering: dither,
      transparency: matte.map { .matte($0.color) } ?? .threshold())
  }
}

extension Dithering: ExpressibleByArgument {
  /// Creates the dithering with the name `argument`.
  public init?(argument: String) { self.init(rawValue: argument) }
  /// The names of all kinds of dithering.
  public static var allValueStrings: [String] { allCases.map(\.rawValue) }
}

/// A value of `--colors` for commands that write animations.
struct ColorCountArgument: ExpressibleByArgument, Hashable {
  let policy: ColorPolicy

  init(policy: ColorPolicy) { self.policy = policy }

  init?(argument: String) {
    switch argument {
    case "auto": policy = .automatic
    case "exact": policy = .exact
    default:
      guard let count = Int(argument), (2...256).contains(count) else { return nil }
      policy = .limited(to: count)
    }
  }

  static let allValueStrings = ["auto", "exact", "N"]

  static let allValueDescriptions = [
    "auto": "GIF: 256, unchanged if they fit; APNG: all",
    "exact": "fail if the colours do not fit",
    "N": "2 to 256, including one for unchanged pixels",
  ]

  static var defaultCompletionKind: CompletionKind { .list(["auto", "exact"]) }

  var defaultValueDescription: String {
    switch policy.kind {
    case .automatic: "auto"
    case .exact: "exact"
    case .limited(let count): "\(count)"
    }
  }
}
