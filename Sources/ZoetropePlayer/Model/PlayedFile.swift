import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The facts that the player knows about the file being played.
struct PlayedFile: Sendable {
  /// The file's name in messages.
  let name: String
  /// The file's name in the status line, without directories.
  let shortName: String
  let size: PixelSize
  let format: AnimationFormat
  /// Whether opening the file revealed that part of its data is lost.
  let isDamaged: Bool
  /// The frames that have arrived. The array is empty only at the beginning of a stream.
  private(set) var frames: [FrameControl]
  private(set) var timeline: PlaybackTimeline
  /// The number of plays that the file specifies.
  private(set) var playCount: PlayCount
  /// The progress of the stream, or nil if the file was read as a whole.
  private(set) var progress: StreamProgress?

  init(_ opened: OpenedInput, from input: InputFile, options: PlaybackOptions) {
    // The progress is read before the frames, so that it never counts a frame that is missing from them.
    let progress = opened.stream?.progress
    self.init(
      name: input.name, shortName: input.shortName, size: opened.canvasSize, format: opened.format,
      frames: opened.frames, playCount: opened.playCount, progress: progress,
      isDamaged: opened.image?.damage.contains { !$0.kind.isTolerated } ?? false, options: options)
  }

  init(
    name: String, shortName: String? = nil, size: PixelSize, format: AnimationFormat,
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

  /// Adds the frames of a stream that have arrived, and updates its play count and progress.
  mutating func append(
    _ frames: [FrameControl], playCount: PlayCount, progress: StreamProgress
  ) {
    self.frames += frames
    timeline.append(frames)
    self.playCount = playCount
    self.progress = progress
  }

  var frameCount: Int { frames.count }
  /// Whether the file has more than one frame, or may get more than one.
  var mayMove: Bool { progress != nil || frameCount > 1 }
  /// The duration of one play at speed 1.
  var duration: Duration { timeline.startTime(frameCount) }

  /// Returns the time at which frame `index` starts at speed 1. If there is no such frame, returns the time at which
  /// the last frame ends.
  func startTime(_ index: Int) -> Duration { timeline.startTime(min(index, frameCount)) }

  /// Returns the index of the frame shown at `time`, which counts from the start of the animation.
  func frameIndex(at time: Duration) -> Int {
    guard frameCount > 0 else { return 0 }
    return timeline.position(at: time, in: 0..<frameCount, playCount: .once).frame
  }

  /// The times for which the frames are shown, in milliseconds.
  var delays: [Int] {
    frames.indices.map { Int(timeline.ticks($0) * 1000 / timeline.timescale) }
  }

  /// Returns the position of the start of frame `index`, as a fraction of the animation's duration.
  func part(before index: Int) -> Double {
    duration > .zero ? startTime(index) / duration : 0
  }
}
