import ArgumentParser

/// A frame rate, to which `--fps` resamples an animation, such as `25`, `29.97` or `30000/1001`.
struct PictureRate: Hashable, Sendable {
  /// The maximum number of pictures, unless `--max` sets a lower one.
  static let mostPictures = 1_000_000
  /// The highest rate, in pictures per second.
  static let mostASecond = 1000

  let numerator: Int
  let denominator: Int
  /// The start time of the first picture.
  var start = Duration.zero

  init(numerator: Int, denominator: Int) {
    (self.numerator, self.denominator) = (numerator, denominator)
  }

  /// Parses a rate. Returns nil if `text` is neither a number with at most three decimals nor a fraction, or if the
  /// rate is not above 0 or exceeds 1000.
  init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    switch parts.count {
    case 1:
      let digits = parts[0].split(separator: ".", omittingEmptySubsequences: false)
      guard (1...2).contains(digits.count), let whole = digits[0].plainNumber else { return nil }
      var thousandths = 0
      if digits.count == 2 {
        guard digits[1].count <= 3, let fraction = digits[1].plainNumber else { return nil }
        thousandths = [0, 100, 10, 1][digits[1].count] * fraction
      }
      (numerator, denominator) = (whole * 1000 + thousandths, 1000)
    case 2:
      guard let above = parts[0].plainNumber, let below = parts[1].plainNumber else { return nil }
      (numerator, denominator) = (above, below)
    default: return nil
    }
    guard numerator > 0, denominator > 0, numerator <= denominator * Self.mostASecond else {
      return nil
    }
  }

  /// Returns the start time of picture `number`.
  func time(ofPicture number: Int) -> Duration { start + duration(ofPictures: number) }

  /// Returns how long `count` pictures are shown.
  func duration(ofPictures count: Int) -> Duration {
    let second: Int128 = 1_000_000_000_000_000_000
    let time = Int128(count) * Int128(denominator) * second / Int128(numerator)
    return Duration(
      secondsComponent: Int64(time / second), attosecondsComponent: Int64(time % second))
  }

  /// Returns the index of the frame that each picture of a play shows, if frame `i` is shown for `durations[i]`.
  ///
  /// - Parameter limit: The end of the last picture, or nil for the end of the play. There is at least one picture if
  ///   the play reaches ``start``.
  /// - Returns: The indices for the first `maximum` pictures at most, or nil if these are more than ``mostPictures``.
  func frames(
    shownFor durations: [Duration], until limit: Duration? = nil, maximum: Int
  ) -> [Int]? {
    var frames: [Int] = []
    var end = Duration.zero
    for (index, duration) in durations.enumerated() {
      end += duration
      while time(ofPicture: frames.count) < end {
        if let limit, !frames.isEmpty, time(ofPicture: frames.count) >= limit { return frames }
        if frames.count == maximum { return frames }
        if frames.count == Self.mostPictures { return nil }
        frames.append(index)
      }
    }
    return frames
  }
}

extension PictureRate: ExpressibleByArgument {
  init?(argument: String) { self.init(argument) }
}
