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
  private(set) var scheduler: FrameScheduler<LeadClock>
  private(set) var inbox = FrameInbox()
  private let shared: SharedFrames

  init(_ image: AnimatedImage, options: PlaybackOptions) {
    self.image = image
    self.options = options
    var starts = [Duration.zero]
    var sum = Duration.zero
    for frame in image.frames {
      sum += options.fixedDelay ?? options.delayPolicy.shownDuration(of: frame.delay)
      starts.append(sum)
    }
    self.starts = starts
    shared = SharedFrames(image, keeping: 0)
    scheduler = FrameScheduler(sharing: shared, options: options, clock: LeadClock())
  }

  var frameCount: Int { image.frames.count }
  var duration: Duration { starts[frameCount] }
  var playCount: PlayCount { options.playCount ?? image.playCount }

  /// The frame shown at `time`, counted from the start of the animation.
  func frameIndex(at time: Duration) -> Int {
    max(0, min(frameCount - 1, (starts.firstIndex { $0 > time } ?? frameCount) - 1))
  }

  /// Starts a scheduler with these options; the one before ends.
  func start(_ options: PlaybackOptions, isPaused: Bool = false) {
    scheduler.stop()
    self.options = options
    let clock = LeadClock()
    let scheduler = FrameScheduler(sharing: shared, options: options, clock: clock)
    let inbox = FrameInbox()
    self.scheduler = scheduler
    self.inbox = inbox
    if isPaused { scheduler.pause() }
    Task {
      var anchor: ContinuousClock.Instant?
      for await frame in scheduler.frames() {
        let start = anchor ?? .now.advanced(by: .zero - frame.presentationTime)
        if anchor == nil {
          anchor = start
          clock.run(ahead: Transport.lead)
        }
        inbox.put(.frame(frame, due: start.advanced(by: frame.presentationTime)))
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
    change(&options)
    start(options, isPaused: isPaused)
  }

  func stop() { scheduler.stop() }
}
