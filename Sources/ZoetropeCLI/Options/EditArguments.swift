import ArgumentParser
import Zoetrope
import ZoetropeProcess

/// The options that select the part of an animation to keep.
struct CutArguments: ParsableArguments {
  @Option(
    parsing: .unconditional, help: "The frames to keep, in file order: 12-, ::2, 0,3-7,-1.",
    transform: SelectionArguments.selector)
  var frames: FrameSelector?

  @Option(
    parsing: .unconditional,
    help: "A time range to keep, such as 1.5s-3s, 500ms- or -2s.", transform: TimeRange.argument)
  var time: TimeRange?

  @Option(
    parsing: .unconditional, help: "Limit the frame rate; the duration is kept.")
  var fps: PictureRate?

  @Option(help: .timing)
  var timing = TimingArgument(policy: .browser)

  func validate() throws {
    guard frames == nil || time == nil else {
      throw ValidationError("--frames and --time cannot be combined")
    }
    if let time, time.start == time.end {
      throw ValidationError("--time takes a range, such as 1s-3s: a moment has no duration")
    }
  }
}

/// The options that change the times, the order of the frames, and the canvas.
struct ChangeArguments: ParsableArguments {
  @Option(parsing: .unconditional, help: "The speed, 0.001 to 1000; 2 is twice as fast.")
  var speed: Double?

  @Option(parsing: .unconditional, help: "Scale all delays so that one play lasts this long.")
  var duration: TimeArgument?

  @Option(
    parsing: .unconditional,
    help: "The delay of every frame, such as 40ms or 1/30. Browsers show 0 as 100 ms.")
  var delay: DelayArgument?

  @Flag(help: "Play backwards.")
  var reverse = false

  @Flag(help: "Play forwards, then backwards, without repeating the first and last frames.")
  var backAndForth = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The total number of plays. (default: as in the input)", argumentType: PlaysArgument.self))
  var plays: PlaysArgument?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Keep a part of the canvas, such as 320x200+10+20, or 320x200 at its top left.",
      valueName: "WxH+X+Y"))
  var crop: CropArgument?

  func validate() throws {
    guard [speed != nil, duration != nil, delay != nil].count(where: { $0 }) <= 1 else {
      throw ValidationError("--speed, --duration and --delay cannot be combined")
    }
    if let speed, !(0.001...1000).contains(speed) {
      throw ValidationError("--speed must be a number from 0.001 to 1000")
    }
    if let duration, duration.time == .zero {
      throw ValidationError("--duration must be more than 0")
    }
  }
}

/// The edits that `convert` makes.
struct EditChoices: Hashable {
  var frames: FrameSelector?
  var time: TimeRange?
  var rate: PictureRate?
  var speed: Double?
  var duration: Duration?
  var delay: FrameDelay?
  var isReversed = false
  var isBackAndForth = false
  var playCount: PlayCount?
  var crop: PixelRect?

  /// Returns the edits for an image with `count` frames, in the order in which they apply.
  func edits(count: Int) throws(FrameSelector.MissingFrame) -> [AnimationEdit] {
    var edits: [AnimationEdit] = []
    if let frames { edits.append(.frames(at: try frames.indices(count: count))) }
    if let time { edits.append(.time(time.start..<(time.end ?? .seconds(Int64(1) << 40)))) }
    if isReversed { edits.append(.reverse) }
    if isBackAndForth { edits.append(.backAndForth) }
    if let speed { edits.append(.speed(speed)) }
    if let duration { edits.append(.duration(duration)) }
    if let delay { edits.append(.delay(delay)) }
    if let rate {
      edits.append(.framesPerSecond(Double(rate.numerator) / Double(rate.denominator)))
    }
    if let crop { edits.append(.crop(crop)) }
    if let playCount { edits.append(.playCount(playCount)) }
    return edits
  }

  /// Returns whether the result would be empty because `frames` selects no frames or, if `frames` is nil, because
  /// `time` selects none. If both are given, only `frames` is considered here; `time` is checked when the edits are
  /// applied.
  func keepNothing(
    of image: AnimatedImage, _ policy: DelayPolicy
  ) throws(FrameSelector.MissingFrame) -> Bool {
    if frames == nil, time == nil { return false }
    let selection = FrameSelection(frames: frames, time: frames == nil ? time : nil)
    return try selection.indices(in: Array(image.frames), policy: policy).isEmpty
  }
}

extension EditChoices {
  init(_ cut: CutArguments, _ change: ChangeArguments) {
    self.init(
      frames: cut.frames, time: cut.time, rate: cut.fps, speed: change.speed,
      duration: change.duration?.time, delay: change.delay?.delay, isReversed: change.reverse,
      isBackAndForth: change.backAndForth, playCount: change.plays?.count, crop: change.crop?.rect)
  }
}

/// A total number of plays: `forever`, or a number from 1.
struct PlaysArgument: Hashable, Sendable, ExpressibleByArgument {
  let count: PlayCount

  init?(argument: String) {
    if argument == "forever" {
      count = .indefinite
      return
    }
    guard let plays = Int(argument), (1...0x7fff_ffff).contains(plays) else { return nil }
    count = .finite(plays)
  }

  static var defaultCompletionKind: CompletionKind { .list(["forever", "1"]) }
}

/// A part of the canvas, such as `320x200+10+20`: the width and height, then the offsets of its top left corner, which
/// may be omitted if they are 0.
struct CropArgument: Hashable, Sendable, ExpressibleByArgument {
  let rect: PixelRect

  init?(argument: String) {
    let parts = argument.split(separator: "+", omittingEmptySubsequences: false)
    let sides = parts[0].split(separator: "x", omittingEmptySubsequences: false)
    let numbers = (sides + parts.dropFirst()).map(\.plainNumber)
    guard sides.count == 2, parts.count == 3 || parts.count == 1, !numbers.contains(nil) else {
      return nil
    }
    let values = numbers.compactMap { $0 } + [0, 0]
    guard values[0] > 0, values[1] > 0 else { return nil }
    rect = PixelRect(x: values[2], y: values[3], width: values[0], height: values[1])
  }
}
