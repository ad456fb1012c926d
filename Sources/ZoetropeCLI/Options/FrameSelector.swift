import ArgumentParser
import Zoetrope

/// The options of commands that select frames of a file.
struct SelectionArguments: ParsableArguments {
  @Option(
    parsing: .unconditional, help: "The frames to use, in file order: 0,3-7,-1,10-,::2.",
    transform: Self.selector)
  var frames: FrameSelector?

  @Option(
    parsing: .unconditional,
    help: "Frames shown at a time (2s) or in a range (1.5s-3s, 500ms-, -200ms).",
    transform: TimeRange.argument)
  var time: TimeRange?

  @Option(parsing: .unconditional, help: "Use every Nth of the selected frames.")
  var every = 1

  @Option(parsing: .unconditional, help: "Use at most this many frames of each file.")
  var max: Int?

  @Option(help: .timing)
  var timing = TimingArgument(policy: .browser)

  func validate() throws {
    guard every >= 1 else { throw ValidationError("--every must be at least 1") }
    guard max ?? 1 >= 1 else { throw ValidationError("--max must be at least 1") }
  }

  var selection: FrameSelection {
    FrameSelection(frames: frames, time: time, every: every, maximum: max ?? .max)
  }

  static func selector(_ text: String) throws -> FrameSelector {
    if let selector = FrameSelector(text) { return selector }
    throw ValidationError(
      "select frames as in 0,3-7,-1,10-,::2; they are used in file order, so ranges must ascend")
  }
}

/// The criteria that select the frames which a command uses. They apply in this order: number, time, every Nth frame,
/// maximum.
struct FrameSelection: Hashable, Sendable {
  /// The frames by number, or nil for all frames.
  var frames: FrameSelector?
  /// The time range in which the frames are shown, or nil for the whole animation.
  var time: TimeRange?
  /// The step N: of the frames that the criteria above select, the first and every Nth after it are used.
  var every = 1
  /// The maximum number of frames.
  var maximum = Int.max

  /// Returns the indices of the selected frames, in order. `policy` determines how long each frame is shown.
  func indices(
    in frames: [FrameControl], policy: DelayPolicy
  ) throws(FrameSelector.MissingFrame) -> [Int] {
    var chosen = try self.frames?.indices(count: frames.count) ?? Array(frames.indices)
    if let time {
      let timeline = PlaybackTimeline(frames, policy: policy)
      chosen = chosen.filter {
        time.overlaps(from: timeline.printedStart($0), to: timeline.printedStart($0 + 1))
      }
    }
    if every > 1 {
      chosen = stride(from: 0, to: chosen.count, by: every).map { chosen[$0] }
    }
    return Array(chosen.prefix(maximum))
  }
}

extension FrameSelection {
  /// Whether each frame can be selected without knowing the number of frames or any later frame.
  var isDecidedInOrder: Bool { frames?.isDecidedInOrder ?? true }
}

/// Selects frames one by one as they arrive, with the same result as ``FrameSelection/indices(in:policy:)``.
struct OrderedSelection {
  private let selection: FrameSelection
  /// The frames that have arrived, for selecting frames by time.
  private var timeline: PlaybackTimeline
  /// The number of frames that have arrived.
  private var seenCount = 0
  private var matchCount = 0
  private var takenCount = 0

  /// Creates a selection.
  ///
  /// - Parameter selection: The criteria. ``FrameSelection/isDecidedInOrder`` must be true.
  init(_ selection: FrameSelection, policy: DelayPolicy) {
    self.selection = selection
    timeline = PlaybackTimeline([], policy: policy)
  }

  /// Returns whether `frame` is selected. This method must be called for every frame, in order.
  mutating func takes(_ frame: FrameControl) -> Bool {
    seenCount += 1
    let isOnTime = isOnTime(frame)
    guard isOnTime, selection.frames?.contains(frame.index) ?? true else { return false }
    defer { matchCount += 1 }
    guard matchCount % selection.every == 0, takenCount < selection.maximum else { return false }
    takenCount += 1
    return true
  }

  /// Whether no later frame can be selected.
  var isExhausted: Bool {
    takenCount >= selection.maximum
      || selection.frames?.end.map { seenCount >= $0 } ?? false
      || selection.time?.isOver(at: timeline.printedStart(timeline.frameCount)) ?? false
  }

  private mutating func isOnTime(_ frame: FrameControl) -> Bool {
    guard let time = selection.time else { return true }
    timeline.append([frame])
    let last = timeline.frameCount - 1
    return time.overlaps(from: timeline.printedStart(last), to: timeline.printedStart(last + 1))
  }
}

extension PlaybackTimeline {
  /// Returns the start time of frame `index`, rounded as in reports. A range between two printed times therefore
  /// selects exactly the frames between them.
  func printedStart(_ index: Int) -> Duration {
    .microseconds(startTime(index).roundedMicroseconds)
  }
}

/// A selection of frames by number, such as `0,3-7,-1,10-,::2`.
///
/// Items are separated by commas. `N` is one frame, counted from 0, and `-N` is the Nth frame from the end (`-1` is the
/// last). `A-B` includes both ends, and `A-` extends to the last frame. `A:B:C` is a Python slice with a positive step.
/// The ends of ranges and slices are clamped to the frames of the file. Each frame is used at most once, in file order,
/// so descending ranges are rejected.
struct FrameSelector: Hashable, Sendable {
  enum Item: Hashable, Sendable {
    case single(Int)
    /// A range that includes both ends. If the second end is nil, the range extends to the last frame.
    case range(Int, Int?)
    case slice(start: Int?, stop: Int?, step: Int)
  }

  let items: [Item]

  /// Parses a selection. Returns nil if `text` does not follow the grammar.
  init?(_ text: String) {
    var items: [Item] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let item = Item(part) else { return nil }
      items.append(item)
    }
    self.items = items
  }

  /// Returns the indices of the selected frames in a file of `count` frames, in order.
  ///
  /// - Throws: ``MissingFrame`` if a frame that is selected by its own number does not exist in the file.
  func indices(count: Int) throws(MissingFrame) -> [Int] {
    var chosen = [Bool](repeating: false, count: count)
    for item in items {
      switch item {
      case .single(let number):
        let index = FrameNumber(number).index(count: count)
        guard (0..<count).contains(index) else { throw MissingFrame(number: number, count: count) }
        chosen[index] = true
      case .range(let first, let last):
        let start = max(first < 0 ? count + first : first, 0)
        let end = min(last.map { $0 < 0 ? count + $0 : $0 } ?? count - 1, count - 1)
        if start <= end { for index in start...end { chosen[index] = true } }
      case .slice(let start, let stop, let step):
        let first = Self.place(start ?? 0, in: count)
        for index in stride(from: first, to: Self.place(stop ?? count, in: count), by: step) {
          chosen[index] = true
        }
      }
    }
    return chosen.indices.filter { chosen[$0] }
  }

  /// Whether the selection counts no frame from the end of the file.
  var isDecidedInOrder: Bool {
    items.allSatisfy { item in
      switch item {
      case .single(let number): number >= 0
      case .range(let first, let last): first >= 0 && last ?? 0 >= 0
      case .slice(let start, let stop, _): start ?? 0 >= 0 && stop ?? 0 >= 0
      }
    }
  }

  /// Returns whether frame `index` is selected. ``isDecidedInOrder`` must be true.
  func contains(_ index: Int) -> Bool {
    items.contains { item in
      switch item {
      case .single(let number): return number == index
      case .range(let first, let last): return index >= first && index <= last ?? .max
      case .slice(let start, let stop, let step):
        let first = start ?? 0
        return index >= first && index < stop ?? .max && (index - first) % step == 0
      }
    }
  }

  /// One more than the highest index that can be selected, or nil if there is no bound. ``isDecidedInOrder`` must be
  /// true.
  var end: Int? {
    var end = 0
    for item in items {
      switch item {
      case .single(let number): end = max(end, number + 1)
      case .range(_, let last):
        guard let last else { return nil }
        end = max(end, last + 1)
      case .slice(_, let stop, _):
        guard let stop else { return nil }
        end = max(end, stop)
      }
    }
    return end
  }

  private static func place(_ value: Int, in count: Int) -> Int {
    min(max(value < 0 ? value + count : value, 0), count)
  }

  /// The error for a frame that is selected by its own number but does not exist.
  struct MissingFrame: Error, Hashable {
    let number: Int
    let count: Int
  }
}

extension FrameSelector.Item {
  /// Parses one item. Returns nil if `text` does not follow the grammar.
  init?(_ text: Substring) {
    if text.contains(":") {
      self.init(slice: text)
      return
    }
    var rest = text
    guard let first = FrameNumber.read(&rest) else { return nil }
    if rest.isEmpty {
      self = .single(first)
      return
    }
    guard rest.removeFirst() == "-" else { return nil }
    if rest.isEmpty {
      self = .range(first, nil)
      return
    }
    guard let last = FrameNumber.read(&rest), rest.isEmpty else { return nil }
    // If one end is counted from the start and the other from the end, they can be compared only when the number of
    // frames is known.
    guard (first < 0) != (last < 0) || first <= last else { return nil }
    self = .range(first, last)
  }

  private init?(slice text: Substring) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count <= 3 else { return nil }
    var values: [Int?] = []
    for part in parts {
      var rest = part
      if part.isEmpty {
        values.append(nil)
      } else if let value = FrameNumber.read(&rest), rest.isEmpty {
        values.append(value)
      } else {
        return nil
      }
    }
    let step = values.count == 3 ? values[2] ?? 1 : 1
    guard step > 0 else { return nil }
    self = .slice(start: values[0], stop: values[1], step: step)
  }
}

/// The number of a frame, counted from 0. Negative numbers count from the end (`-1` is the last frame). All frame
/// numbers on the command line are parsed by this type.
struct FrameNumber: Hashable, Sendable {
  let number: Int

  init(_ number: Int) { self.number = number }

  init?(_ text: String) {
    var rest = text[...]
    guard let number = Self.read(&rest), rest.isEmpty else { return nil }
    self.number = number
  }

  /// Returns the index of the frame in a file of `count` frames. The index may be out of range.
  func index(count: Int) -> Int { number < 0 ? count + number : number }

  /// Parses an integer of at most nine digits at the start of `text`, and removes it from `text`. The limit keeps sums
  /// from overflowing. Returns nil if there is no such integer.
  static func read(_ text: inout Substring) -> Int? {
    let isNegative = text.first == "-"
    let digits = text.dropFirst(isNegative ? 1 : 0).prefix { $0.isASCII && $0.isNumber }
    guard let value = digits.plainNumber else { return nil }
    text = text[digits.endIndex...]
    return isNegative ? -value : value
  }
}

extension FrameNumber: ExpressibleByArgument {
  init?(argument: String) { self.init(argument) }
}

/// A value of `--static`, which determines what `extract` does with a static image that is not a frame.
enum StaticImageChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
  case include, only, skip
}
