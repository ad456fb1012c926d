import SystemPackage
import Zoetrope
import ZoetropeProcess

/// What the player knows about the file that it plays.
struct PlayedFile: Sendable {
  /// The name for messages.
  let name: String
  /// The name for the status line, without directories.
  let shortName: String
  let size: PixelSize
  let format: AnimationFormat
  /// Whether opening the file found that data was lost.
  let isDamaged: Bool
  /// The frames that have arrived; none only at the beginning of a stream.
  private(set) var frames: [FrameControl]
  private(set) var timeline: PlaybackTimeline
  /// The number of plays that the file specifies.
  private(set) var playCount: PlayCount
  /// The progress of a stream; nil for a whole image.
  private(set) var progress: StreamProgress?

  init(_ opened: OpenedInput, from input: InputFile, options: PlaybackOptions) {
    // Read before the frames, so that it never counts frames that are missing from them.
    let progress = opened.stream?.progress
    self.init(
      name: input.name, shortName: input.shortName, size: opened.canvasSize, format: opened.format,
      frames: opened.frames, playCount: opened.playCount, progress: progress,
      isDamaged: opened.image?.damage.contains { !$0.kind.isTolerated } ?? false, options: options)
  }

  init(
    name: String, shortName: String? = nil, size: PixelSize, format: AnimationFormat = .gif,
    frames: [FrameControl], playCount: PlayCount = .indefinite, progress: StreamProgress? = nil,
    isDamaged: Bool = false, options: PlaybackOptions = PlaybackOptions()
  ) {
    self.name = name
    self.shortName = shortName ?? name
    self.size = size
    self.format = format
    self.frames = frames
    self.playCount = playCount
    self.progress = progress
    self.isDamaged = isDamaged
    timeline = PlaybackTimeline(
      frames, policy: options.delayPolicy, fixedDelay: options.fixedDelay)
  }

  /// Adds what has arrived of a stream.
  mutating func append(
    _ frames: [FrameControl], playCount: PlayCount, progress: StreamProgress
  ) {
    self.frames += frames
    timeline.append(frames)
    self.playCount = playCount
    self.progress = progress
  }

  var frameCount: Int { frames.count }
  /// Whether there is, or may be, more than one frame.
  var mayMove: Bool { progress != nil || frameCount > 1 }
  /// The duration of one play at speed 1.
  var duration: Duration { timeline.startTime(frameCount) }

  /// When frame `index` starts at speed 1; for a frame that does not exist, when the last one ends.
  func startTime(_ index: Int) -> Duration { timeline.startTime(min(index, frameCount)) }

  /// The frame shown at `time`, counted from the start of the animation.
  func frameIndex(at time: Duration) -> Int {
    guard frameCount > 0 else { return 0 }
    return timeline.position(at: time, in: 0..<frameCount, playCount: .once).frame
  }

  /// How long each frame is shown, in milliseconds.
  var delays: [Int] {
    frames.indices.map { Int(timeline.ticks($0) * 1000 / timeline.timescale) }
  }

  /// The share of the animation, 0 to 1, that has been played when frame `index` starts.
  func part(before index: Int) -> Double {
    duration > .zero ? startTime(index) / duration : 0
  }
}
