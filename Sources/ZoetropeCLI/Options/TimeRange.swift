import ArgumentParser
import Zoetrope

/// A time range in an animation's first play: `1.5s-3s`, `500ms-`, `-2s`, or a single moment, `2s`.
///
/// A number without a unit is in seconds. The end is exclusive.
struct TimeRange: Hashable, Sendable {
  let start: Duration
  /// Nil means the end of the play. Equal to ``start`` for a single moment.
  let end: Duration?

  /// Nil when `text` is not a range, or ends before it starts.
  init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    switch parts.count {
    case 1:
      guard let moment = Self.time(parts[0]) else { return nil }
      (start, end) = (moment, moment)
    case 2:
      guard !(parts[0].isEmpty && parts[1].isEmpty) else { return nil }
      guard let from = parts[0].isEmpty ? .zero : Self.time(parts[0]) else { return nil }
      if parts[1].isEmpty {
        (start, end) = (from, nil)
      } else {
        guard let to = Self.time(parts[1]), from < to else { return nil }
        (start, end) = (from, to)
      }
    default: return nil
    }
  }

  /// Whether a frame that is shown from `first` until `last` is on screen within the range. A frame with zero
  /// duration can lie in a range, but not at a moment.
  func overlaps(from first: Duration, to last: Duration) -> Bool {
    guard let end else { return last > start || first >= start }
    if start == end { return first <= start && start < last }
    return first < end && (last > start || (first == last && first >= start))
  }

  /// Parses a number with an optional unit, `s` or `ms`, exact to the microsecond. All times on the command
  /// line are parsed here.
  static func time(_ text: Substring) -> Duration? {
    var digits = text
    var scale = 1_000_000
    if text.hasSuffix("ms") {
      digits = text.dropLast(2)
      scale = 1000
    } else if text.hasSuffix("s") {
      digits = text.dropLast()
    }
    let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count) else { return nil }
    let startsWithPoint = parts.count == 2 && parts[0].isEmpty
    guard let whole = startsWithPoint ? 0 : number(parts[0]) else { return nil }
    var microseconds = whole * scale
    if parts.count == 2 {
      guard let fraction = number(parts[1]) else { return nil }
      var unit = 1
      for _ in 0..<parts[1].count { unit *= 10 }
      microseconds += fraction * scale / unit
    }
    return .microseconds(microseconds)
  }

  /// Parses one to nine digits, so that products with a scale do not overflow.
  private static func number(_ text: Substring) -> Int? {
    guard (1...9).contains(text.count), text.allSatisfy({ $0.isASCII && $0.isNumber }) else {
      return nil
    }
    return Int(text)
  }
}

/// A time such as `1.5s`, `500ms`, or `2` for seconds.
struct TimeArgument: Hashable, Sendable {
  let time: Duration

  init?(_ text: String) {
    guard let time = TimeRange.time(text[...]) else { return nil }
    self.time = time
  }
}

/// The frame rate to which `--fps` resamples an animation: `25`, `29.97` or `30000/1001`.
struct PictureRate: Hashable, Sendable {
  /// The largest number of pictures without `--max`.
  static let mostPictures = 1_000_000
  /// The highest rate, per second.
  static let mostASecond = 1000

  let numerator: Int
  let denominator: Int

  init(numerator: Int, denominator: Int) {
    (self.numerator, self.denominator) = (numerator, denominator)
  }

  /// Nil if `text` is not a number above 0 and up to 1000 with at most three decimals.
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
    guard numerator > 0, denominator > 0, numerator <= denominator * Self.mostASecond else {
      return nil
    }
  }

  /// Parses up to nine digits, so that no product here overflows.
  private static func number(_ text: Substring) -> Int? {
    guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else {
      return nil
    }
    return Int(text)
  }

  /// The time of picture `number`.
  func time(ofPicture number: Int) -> Duration {
    let second: Int128 = 1_000_000_000_000_000_000
    let time = Int128(number) * Int128(denominator) * second / Int128(numerator)
    return Duration(
      secondsComponent: Int64(time / second), attosecondsComponent: Int64(time % second))
  }

  /// The frame that each picture of a play shows; frame `i` is shown for `durations[i]`.
  ///
  /// - Returns: At most `maximum` indices; nil if there would be more than ``mostPictures``.
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

extension TimeRange {
  /// The range of an option.
  ///
  /// - Throws: Why `text` is not a range.
  static func argument(_ text: String) throws -> TimeRange {
    if let range = TimeRange(text) { return range }
    let times = text.split(separator: "-", omittingEmptySubsequences: false).map(time)
    if times.count == 2, let from = times[0], let to = times[1] {
      throw ValidationError(
        from == to ? "the range is empty, since its end is exclusive" : "it ends before it starts")
    }
    throw ValidationError("give a range such as 1.5s-3s, 500ms- or -2s")
  }
}

extension TimeArgument: ExpressibleByArgument {
  init?(argument: String) { self.init(argument) }
}

extension PictureRate: ExpressibleByArgument {
  init?(argument: String) { self.init(argument) }
}
