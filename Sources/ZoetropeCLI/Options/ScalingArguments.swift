public import ArgumentParser
public import Zoetrope
internal import ZoetropeProcess

/// The options of commands that can scale pictures.
struct ScalingArguments: ParsableArguments {
  @Option(help: "Scale to 320x240, a width (320x), a height (x240) or 50%, with sides up to 65535.")
  var size: SizeArgument?

  @Option(help: "With --size: what to do if the proportions differ.")
  var fit = ScalingFit.fit

  @Option(help: "With --size: the resampling filter.")
  var filter = ScalingFilter.bilinear

  @Flag(help: "With --size: scale in linear light to keep brightness.")
  var linearLight = false

  func validate() throws {
    if size == nil, linearLight || fit != .fit || filter != .bilinear {
      throw ValidationError("--fit, --filter and --linear-light require --size")
    }
  }

  /// The scaling of the pictures, or nil to keep their size.
  var rendering: Rendering? {
    size.map {
      Rendering(target: $0.target, fit: fit, filter: filter, linearLight: linearLight)
    }
  }
}

/// A size such as 320x240, 320x or x240, with sides up to 65535, or a percentage such as 50% or 12.5%.
struct SizeArgument: ExpressibleByArgument, Hashable {
  /// The maximum length of a side. It is larger than any display, and small enough for areas not to overflow.
  private static let longestSide = 65535

  let target: TargetSize

  init?(argument: String) {
    if argument.hasSuffix("%") {
      let digits = argument.dropLast()
      guard digits.utf8.allSatisfy({ (48...57).contains($0) || $0 == 46 }),
        let percent = Double(digits),
        (0.01...100_000).contains(percent)
      else { return nil }
      target = TargetSize(scale: percent / 100)
      return
    }
    let sides = argument.split(separator: "x", omittingEmptySubsequences: false)
    guard sides.count == 2, sides != ["", ""] else { return nil }
    var numbers: [Int?] = []
    for side in sides {
      if side.isEmpty {
        numbers.append(nil)
      } else if let number = Int(side), (1...Self.longestSide).contains(number) {
        numbers.append(number)
      } else {
        return nil
      }
    }
    target = TargetSize(width: numbers[0], height: numbers[1])
  }
}

extension ScalingFit: ExpressibleByArgument {
  /// Creates the fit with the name `argument`.
  public init?(argument: String) { self.init(rawValue: argument) }
  /// The names of all fits.
  public static var allValueStrings: [String] { allCases.map(\.rawValue) }
}

extension ScalingFilter: ExpressibleByArgument {
  /// Creates the filter with the name `argument`.
  public init?(argument: String) { self.init(rawValue: argument) }
  /// The names of all filters.
  public static var allValueStrings: [String] { allCases.map(\.rawValue) }
}

extension Rendering {
  /// Throws if the scaled pictures would have more pixels than a canvas may have.
  func check(against image: AnimatedImage, file: String) throws(CommandFailure) {
    try check(canvas: image.canvasSize, options: image.options, file: file)
  }

  /// Throws if the scaled pictures of an image with this canvas would have more pixels than `options` allow for a
  /// canvas.
  func check(
    canvas: PixelSize, options: DecodingOptions, file: String
  ) throws(CommandFailure) {
    let size = Rendition(self, of: canvas, options: options).size
    let (area, isTooMuch) = size.width.multipliedReportingOverflow(by: size.height)
    let limit = options.limits.canvasPixels
    guard isTooMuch || area > limit else { return }
    throw CommandFailure(
      .limit, code: "limitExceeded",
      "--size gives pictures of \(size), but the limit is \(limit) pixels; --limits none removes the limits",
      file: file)
  }
}
