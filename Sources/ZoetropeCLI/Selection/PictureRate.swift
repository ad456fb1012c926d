import Zoetrope

/// Pictures a second at which `--fps` samples an animation: `25`, `29.97` or `30000/1001`.
struct PictureRate: Hashable, Sendable {
  /// More pictures than this are a mistake, or want a limit.
  static let mostPictures = 1_000_000

  let numerator: Int
  let denominator: Int

  /// Nil when `text` is no number above 0 and up to 1000, to the thousandth.
  init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    switch parts.count {
    case 1:
      let digits = parts[0].split(separator: ".", omittingEmptySubsequences: false)
      guard (1...2).contains(digits.count), let whole = Self.number(digits[0]) else { return nil }
      var thousandths = 0
      if digits.count == 2 {
        guard digits[1].count <= 3, let fraction = Self.number(digits[1]) else { return nil }
        thousandths = [0, 100, 10, 1][digits[1].count] * fraction
      }
      (numerator, denominator) = (whole * 1000 + thousandths, 1000)
    case 2:
      guard let above = Self.number(parts[0]), let below = Self.number(parts[1]) else { return nil }
      (numerator, denominator) = (above, below)
    default: return nil
    }
    guard numerator > 0, denominator > 0, numerator <= denominator * 1000 else { return nil }
  }

  /// Up to nine digits, which no product here overflows.
  private static func number(_ text: Substring) -> Int? {
    guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else {
      return nil
    }
    return Int(text)
  }

  /// When picture `number` is taken.
  func time(ofPicture number: Int) -> Duration {
    let second: Int128 = 1_000_000_000_000_000_000
    let time = Int128(number) * Int128(denominator) * second / Int128(numerator)
    return Duration(
      secondsComponent: Int64(time / second), attosecondsComponent: Int64(time % second))
  }

  /// The frame that each picture of one play shows, when frame `i` is shown for `durations[i]`.
  ///
  /// - Returns: At most `maximum` indices; nil when there would be more than ``mostPictures``.
  func frames(shownFor durations: [Duration], maximum: Int) -> [Int]? {
    var frames: [Int] = []
    var end = Duration.zero
    for (index, duration) in durations.enumerated() {
      end += duration
      while time(ofPicture: frames.count) < end {
        if frames.count == maximum { return frames }
        if frames.count == Self.mostPictures { return nil }
        frames.append(index)
      }
    }
    return frames
  }
}
