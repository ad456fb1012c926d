import ArgumentParser
import Zoetrope

/// A time range in the first play of an animation, such as `1.5s-3s`, `500ms-` or `-2s`, or a single moment, such as
/// `2s`.
///
/// A number without a unit is in seconds. The end of a range is exclusive.
struct TimeRange: Hashable, Sendable {
  let start: Duration
  /// The end of the range, or nil for the end of the play. For a single moment, it is equal to ``start``.
  let end: Duration?

  /// Parses a time range. Returns nil if `text` is not a time range, or if the range is empty or ends before it starts.
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

  /// Returns whether a frame that is shown from `first` until `last` is on screen at any time within the range. A frame
  /// with zero duration can be within a range, but never at a single moment.
  func overlaps(from first: Duration, to last: Duration) -> Bool {
    guard let end else { return last > start || first >= start }
    if start == end { return first <= start && start < last }
    return first < end && (last > start || (first == last && first >= start))
  }

  /// Parses a number with an optional unit, `s` or `ms`. The result is rounded down to a microsecond. All times on the
  /// command line are parsed here.
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

  /// Parses a number of one to nine digits, so that the product with a scale does not overflow.
  private static func number(_ text: Substring) -> Int? {
    guard (1...9).contains(text.count), text.allSatisfy({ $0.isASCII && $0.isNumber }) else {
      return nil
    }
    return Int(text)
  }
}

/// A time such as `1.5s` or `500ms`. A number without a unit, such as `2`, is in seconds.
struct TimeArgument: Hashable, Sendable {
  let time: Duration

  init?(_ text: String) {
    guard let time = TimeRange.time(text[...]) else { return nil }
    self.time = time
  }
}

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

  /// Parses a number of one to nine digits, so that no product in this type overflows.
  private static func number(_ text: Substring) -> Int? {
    guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else {
      return nil
    }
    return Int(text)
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

extension TimeRange {
  /// Returns the value of an option that is a range.
  ///
  /// - Throws: An error with the reason why `text` is not a range.
  static func argument(_ text: String) throws -> TimeRange {
    if let range = TimeRange(text) { return range }
    let times = text.split(separator: "-", omittingEmptySubsequences: false).map(time)
    if times.count == 2, let from = times[0], let to = times[1] {
      throw ValidationError(
        from == to
          ? "the range is empty, because its end is exclusive" : "the range ends before it starts")
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
