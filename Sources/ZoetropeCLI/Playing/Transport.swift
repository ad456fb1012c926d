import Zoetrope

/// One file's playback as the player drives it: a scheduler that can be replaced by another.
///
/// What a scheduler can change while it runs is changed there; for the rest (plays, turning round,
/// going on after the end) a new one starts at the frame that is shown.
final class Transport {
  /// How long before its time a frame is handed over.
  static let lead: Int64 = 15

  let image: AnimatedImage
  private(set) var options: PlaybackOptions
  /// When each frame starts at speed 1, and where the last one ends.
  let starts: [Duration]
  /// How long each frame is shown, in milliseconds.
  let delays: [Int]
  private(set) var scheduler: FrameScheduler
  private(set) var inbox = FrameInbox()
  private let shared: SharedFrames

  init(_ image: AnimatedImage, options: PlaybackOptions) {
    self.image = image
    self.options = options
    starts =
      options.fixedDelay.map { delay in (0...image.frames.count).map { delay * $0 } }
      ?? image.startTimes(policy: options.delayPolicy)
    delays = zip(starts.dropFirst(), starts).map { Int(($0 - $1) / .milliseconds(1)) }
    shared = SharedFrames(image, keeping: 0)
    scheduler = FrameScheduler(sharing: shared, options: options, clock: LeadClock())
  }

  var frameCount: Int { image.frames.count }
  var duration: Duration { starts[frameCount] }
  var playCount: PlayCount { options.playCount ?? image.playCount }

  /// The frames that are played.
  var range: Range<Int> { options.range ?? 0..<frameCount }
  /// The frame at which playing begins in the direction it has.
  var firstIndex: Int {
    scheduler.direction == .forward ? range.lowerBound : range.upperBound - 1
  }

  /// The frame shown at `time`, counted from the start of the animation.
  func frameIndex(at time: Duration) -> Int {
    max(0, min(frameCount - 1, (starts.firstIndex { $0 > time } ?? frameCount) - 1))
  }

  /// Starts a scheduler with these options; the one before ends.
  func start(_ options: PlaybackOptions, isPaused: Bool = false) {
    stop()
    self.options = options
    let clock = LeadClock()
    let scheduler = FrameScheduler(sharing: shared, options: options, clock: clock)
    let inbox = FrameInbox()
    self.scheduler = scheduler
    self.inbox = inbox
    if isPaused { scheduler.pause() }
    // Late frames that may not be left out make time wait for the terminal.
    let waits = options.latePolicy != .skip && options.latePolicy != .latest
    Task {
      var anchor: ContinuousClock.Instant?
      for await frame in scheduler.frames().stream {
        let start = anchor ?? .now.advanced(by: .zero - frame.presentationTime)
        if anchor == nil {
          anchor = start
          clock.run(ahead: Transport.lead)
        }
        inbox.put(.frame(frame, due: start.advanced(by: frame.presentationTime)))
        if waits { await inbox.emptied() }
      }
      inbox.put(.ended(scheduler.state))
    }
  }

  /// As ``start(_:isPaused:)``, from frame `index` and with motion.
  func restart(at index: Int, isPaused: Bool = false, _ change: (inout PlaybackOptions) -> Void) {
    var options = self.options
    options.startIndex = index
    options.reducesMotion = false
    options.rate = scheduler.rate
    options.direction = scheduler.direction
    change(&options)
    if let range = options.range {
      options.startIndex = min(max(index, range.lowerBound), range.upperBound - 1)
    }
    start(options, isPaused: isPaused)
  }

  func stop() {
    scheduler.stop()
    inbox.close()
  }
}
