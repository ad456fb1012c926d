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

  /// Returns whether no frame that is first shown at `time` or later is on screen within the range.
  func isOver(at time: Duration) -> Bool {
    guard let end else { return false }
    return start == end ? time > start : time >= end
  }

  /// Parses a number with an optional unit, `s` or `ms`. The result is rounded down to a microsecond. Returns nil for
  /// a time above 0 of which nothing would be left: a delay of 0 is shown for 100 ms. All times on the command line are
  /// parsed here.
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
    // A play can last 10⁹ seconds, and reports give times in milliseconds.
    let longest = scale == 1000 ? 12 : 9
    guard let whole = startsWithPoint ? 0 : parts[0].plainNumber(digits: longest) else {
      return nil
    }
    var microseconds = whole * scale
    var isZero = whole == 0
    if parts.count == 2 {
      guard let fraction = parts[1].plainNumber else { return nil }
      var unit = 1
      for _ in 0..<parts[1].count { unit *= 10 }
      microseconds += fraction * scale / unit
      isZero = isZero && fraction == 0
    }
    guard microseconds > 0 || isZero else { return nil }
    return .microseconds(microseconds)
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
