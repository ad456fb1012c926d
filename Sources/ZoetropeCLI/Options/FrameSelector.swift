import ArgumentParser
import Zoetrope

/// The options of commands that select frames of a file.
struct SelectionArguments: ParsableArguments {
  @Option(
    parsing: .unconditional, help: "Which frames, as in 0,3-7,-1,10-,::2.",
    transform: Self.selector)
  var frames: FrameSelector?

  @Option(
    parsing: .unconditional,
    help: "Frames shown in a time range: 1.5s-3s, 500ms-, -200ms or 2s.",
    transform: TimeRange.argument)
  var time: TimeRange?

  @Option(parsing: .unconditional, help: "Use every Nth of the selected frames.")
  var every = 1

  @Option(parsing: .unconditional, help: "At most this many frames of each file.")
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

/// Which frames a command uses. The criteria apply in order: number, time, every Nth, maximum.
struct FrameSelection: Hashable, Sendable {
  /// All frames when nil.
  var frames: FrameSelector?
  /// The whole animation when nil.
  var time: TimeRange?
  /// Every Nth of the frames selected so far, including the first.
  var every = 1
  /// At most this many frames.
  var maximum = Int.max

  /// The indices of the frames, in order; `policy` decides how long each is shown.
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
  /// Whether no frame's selection depends on the number of frames or on a later frame.
  var isDecidedInOrder: Bool { frames?.isDecidedInOrder ?? true }
}

/// Selects frames one by one, as ``FrameSelection/indices(in:policy:)`` does all at once.
struct OrderedSelection {
  private let selection: FrameSelection
  /// The frames so far, for selection by time.
  private var timeline: PlaybackTimeline
  private var matchCount = 0
  private var takenCount = 0

  /// - Parameter selection: One that ``FrameSelection/isDecidedInOrder``.
  init(_ selection: FrameSelection, policy: DelayPolicy) {
    self.selection = selection
    timeline = PlaybackTimeline([], policy: policy)
  }

  /// Whether `frame` is selected; called for every frame, in order.
  mutating func takes(_ frame: FrameControl) -> Bool {
    let isOnTime = isOnTime(frame)
    guard isOnTime, selection.frames?.contains(frame.index) ?? true else { return false }
    defer { matchCount += 1 }
    guard matchCount % selection.every == 0, takenCount < selection.maximum else { return false }
    takenCount += 1
    return true
  }

  private mutating func isOnTime(_ frame: FrameControl) -> Bool {
    guard let time = selection.time else { return true }
    timeline.append([frame])
    let last = timeline.frameCount - 1
    return time.overlaps(from: timeline.printedStart(last), to: timeline.printedStart(last + 1))
  }
}

extension PlaybackTimeline {
  /// When frame `index` starts, rounded as in reports. A range of printed times therefore selects exactly the
  /// frames between them.
  fileprivate func printedStart(_ index: Int) -> Duration {
    .microseconds(startTime(index).roundedMicroseconds)
  }
}

/// A selection of frames such as `0,3-7,-1,10-,::2`.
///
/// Items are separated by commas. `N` is one frame, counted from 0, and `-N` the Nth from the end (`-1` is
/// the last). `A-B` includes both ends, and `A-` goes to the end. `A:B:C` is a Python slice with a positive
/// step. Ends are clamped to the file. Frames are used in file order, each once, so ranges that descend are
/// rejected.
struct FrameSelector: Hashable, Sendable {
  enum Item: Hashable, Sendable {
    case single(Int)
    /// Both ends are included; nil means to the end.
    case range(Int, Int?)
    case slice(start: Int?, stop: Int?, step: Int)
  }

  let items: [Item]

  init(items: [Item]) { self.items = items }

  /// Nil when `text` does not follow the grammar.
  init?(_ text: String) {
    var items: [Item] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let item = Item(part) else { return nil }
      items.append(item)
    }
    self.items = items
  }

  /// The selected indices in a file of `count` frames, in order.
  ///
  /// - Throws: ``MissingFrame`` for a single frame that the file does not have.
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

  /// Whether nothing is counted from the end.
  var isDecidedInOrder: Bool {
    items.allSatisfy { item in
      switch item {
      case .single(let number): number >= 0
      case .range(let first, let last): first >= 0 && last ?? 0 >= 0
      case .slice(let start, let stop, _): start ?? 0 >= 0 && stop ?? 0 >= 0
      }
    }
  }

  /// Whether frame `index` is selected. Requires ``isDecidedInOrder``.
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

  private static func place(_ value: Int, in count: Int) -> Int {
    min(max(value < 0 ? value + count : value, 0), count)
  }

  /// A single requested frame that does not exist.
  struct MissingFrame: Error, Hashable {
    let number: Int
    let count: Int
  }
}

extension FrameSelector.Item {
  /// Nil when `text` does not follow the grammar.
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
    // Ends counted from different sides can be compared only once the frame count is known.
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

/// The number of a frame, counted from 0, or if negative from the end (`-1` is the last). All frame numbers on
/// the command line are parsed here.
struct FrameNumber: Hashable, Sendable {
  let number: Int

  init(_ number: Int) { self.number = number }

  init?(_ text: String) {
    var rest = text[...]
    guard let number = Self.read(&rest), rest.isEmpty else { return nil }
    self.number = number
  }

  /// The index in a file of `count` frames, which may be out of range.
  func index(count: Int) -> Int { number < 0 ? count + number : number }

  /// Parses an integer at the start of `text`, of at most nine digits, so that sums do not
  /// overflow.
  static func read(_ text: inout Substring) -> Int? {
    let isNegative = text.first == "-"
    let digits = text.dropFirst(isNegative ? 1 : 0).prefix { $0.isASCII && $0.isNumber }
    guard (1...9).contains(digits.count), let value = Int(digits) else { return nil }
    text = text[digits.endIndex...]
    return isNegative ? -value : value
  }
}

extension FrameSelector: ExpressibleByArgument {
  init?(argument: String) { self.init(argument) }
}

extension FrameNumber: ExpressibleByArgument {
  init?(argument: String) { self.init(argument) }
}

/// The values of `--static`: what `extract` does with a static image that is not a frame.
enum StaticImageChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
  case include, only, skip
}
