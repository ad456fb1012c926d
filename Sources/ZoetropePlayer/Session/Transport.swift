import Synchronization
import Zoetrope
import ZoetropeProcess

/// The playback of one file: a scheduler, which is replaced when necessary.
///
/// What cannot be changed while a scheduler runs (plays, bouncing, playing again after the end)
/// takes a new one that starts at the current frame.
final class Transport {
  let source: OpenedInput
  private(set) var options: PlaybackOptions
  /// When each frame starts at speed 1, and where the last one ends; of a stream, those that
  /// ``takeArrivals()`` found.
  private(set) var starts: [Duration]
  /// How long each frame is shown, in milliseconds.
  private(set) var delays: [Int]
  private(set) var scheduler: FrameScheduler
  private(set) var inbox = FrameInbox()
  private let shared: SharedFrames
  /// The times of a stream's frames.
  private var timeline: PlaybackTimeline
  /// Wakes the drawing thread when more of a stream has arrived.
  private var watch: Task<Void, Never>?

  init(_ source: OpenedInput, options: PlaybackOptions, store: FrameStore? = nil) {
    self.source = source
    self.options = options
    timeline = PlaybackTimeline(
      [], policy: options.delayPolicy, fixedDelay: options.fixedDelay)
    switch source {
    case .whole(let image):
      starts =
        options.fixedDelay.map { delay in (0...image.frames.count).map { delay * $0 } }
        ?? image.startTimes(policy: options.delayPolicy)
      delays = zip(starts.dropFirst(), starts).map { Int(($0 - $1) / .milliseconds(1)) }
      shared = SharedFrames(image, cache: store, keeping: 0)
    case .stream(let image):
      (starts, delays) = ([.zero], [])
      shared = SharedFrames(image, keeping: 0)
      watch = Task { for await _ in image.updates { WakePipe.wake() } }
    }
    scheduler = FrameScheduler(sharing: shared, options: options, clock: LeadClock())
    takeArrivals()
  }

  deinit { watch?.cancel() }

  /// Takes note of a stream's frames that have arrived.
  func takeArrivals() {
    guard let stream = source.stream, stream.frameCount > frameCount else { return }
    let frames = stream.core.arrival(after: frameCount).frames
    timeline.append(frames)
    for frame in frames {
      let end = timeline.startTime(frame.index + 1)
      delays.append(Int((end - duration) / .milliseconds(1)))
      starts.append(end)
    }
  }

  /// The frames that are there; 0 only at the beginning of a stream.
  var frameCount: Int { starts.count - 1 }
  /// Whether there is, or may come, more than one frame.
  var mayMove: Bool { source.stream != nil || frameCount > 1 }
  var duration: Duration { starts[frameCount] }
  var playCount: PlayCount { options.playCount ?? source.playCount }

  /// How far a stream has come; nil for a whole image.
  var arrival: StreamProgress? { source.stream?.progress }

  /// Frame `index`; nil if it is not there.
  func frame(_ index: Int) -> FrameControl? {
    guard index >= 0, index < frameCount else { return nil }
    return switch source {
    case .whole(let image): image.frames[index]
    case .stream(let image): image.core.frame(index)
    }
  }

  /// The frames to play.
  var range: Range<Int> { options.range ?? 0..<frameCount }
  /// The first frame in the current direction.
  var firstIndex: Int {
    scheduler.direction == .forward ? range.lowerBound : max(range.upperBound - 1, 0)
  }

  /// The frame shown at `time`, counted from the start of the animation.
  func frameIndex(at time: Duration) -> Int {
    max(0, min(frameCount - 1, (starts.firstIndex { $0 > time } ?? frameCount) - 1))
  }

  /// Starts a scheduler with these options, and stops the previous one.
  func start(_ options: PlaybackOptions, isPaused: Bool = false) {
    stop()
    self.options = options
    let clock = LeadClock()
    let scheduler = FrameScheduler(sharing: shared, options: options, clock: clock)
    let inbox = FrameInbox()
    self.scheduler = scheduler
    self.inbox = inbox
    if isPaused { scheduler.pause() }
    // Without skipping, time waits for the terminal.
    let waits = options.latePolicy != .skip && options.latePolicy != .latest
    inbox.take(from: scheduler, clock, waits: waits, shifts: options.latePolicy == .stretch)
  }

  /// Like ``start(_:isPaused:)``, from frame `index` and with motion.
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

/// Passes frames from a scheduler to the drawing thread.
final class FrameInbox: Sendable {
  enum Item: Sendable {
    /// A frame, and when it is due.
    case frame(ScheduledFrame, due: ContinuousClock.Instant)
    /// The scheduler has ended.
    case ended(PlaybackState)

    /// When the frame is due; nil for the end.
    var due: ContinuousClock.Instant? {
      if case .frame(_, let due) = self { due } else { nil }
    }
  }

  private struct Contents {
    var items: [Item] = []
    var isClosed = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  /// How many milliseconds early a frame is put here, after the first one.
  private static let lead: Int64 = 15

  private let contents = Mutex(Contents())

  /// Starts a task that puts the frames of `scheduler` here, and its end.
  ///
  /// - Parameters:
  ///   - clock: The scheduler's. It runs ahead from the first frame on.
  ///   - waits: Whether the next frame is asked for only when everything here has been taken, so that
  ///     the scheduler notices how long that takes.
  ///   - shifts: Whether a late frame shifts the schedule, and is due when it is delivered.
  func take(from scheduler: FrameScheduler, _ clock: LeadClock, waits: Bool, shifts: Bool) {
    Task {
      var anchor: ContinuousClock.Instant?
      for await frame in scheduler.frames().stream {
        let start = anchor ?? .now.advanced(by: .zero - frame.presentationTime)
        if anchor == nil {
          anchor = start
          clock.run(ahead: Self.lead)
        }
        let time = frame.presentationTime + (shifts ? frame.lateness : .zero)
        put(.frame(frame, due: start.advanced(by: time)))
        if waits { await emptied() }
      }
      put(.ended(scheduler.state))
    }
  }

  /// Adds an item and wakes the drawing thread.
  private func put(_ item: Item) {
    contents.withLock { $0.items.append(item) }
    WakePipe.wake()
  }

  /// The oldest item, without taking it.
  var first: Item? { contents.withLock { $0.items.first } }

  /// Takes the oldest item.
  func take() -> Item? {
    let (item, waiter) = contents.withLock { contents in
      let item = contents.items.isEmpty ? nil : contents.items.removeFirst()
      return (item, contents.items.isEmpty ? contents.waiter.take() : nil)
    }
    waiter?.resume()
    return item
  }

  /// Waits until everything has been taken or the inbox is closed.
  private func emptied() async {
    await withCheckedContinuation { continuation in
      let isDone = contents.withLock { contents in
        if contents.items.isEmpty || contents.isClosed { return true }
        contents.waiter = continuation
        return false
      }
      if isDone { continuation.resume() }
    }
  }

  /// Closes the inbox: nothing more will be taken.
  func close() {
    let waiter = contents.withLock { contents in
      contents.isClosed = true
      return contents.waiter.take()
    }
    waiter?.resume()
  }
}

/// The system's clock, some milliseconds ahead.
///
/// A scheduler on this clock delivers each frame early, which leaves time to encode it before it is
/// due. It starts without a lead, because the first frame is wanted at once.
struct LeadClock: SystemClockAhead {
  typealias Instant = ContinuousClock.Instant

  private final class Ahead: Sendable {
    let nanoseconds = Atomic<Int64>(0)
  }

  private let ahead = Ahead()

  var lead: Duration { .nanoseconds(ahead.nanoseconds.load(ordering: .relaxed)) }

  var now: Instant { ContinuousClock.now.advanced(by: lead) }
  var minimumResolution: Duration { ContinuousClock().minimumResolution }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try await ContinuousClock().sleep(
      until: deadline.advanced(by: .zero - lead), tolerance: tolerance)
  }

  /// Sets the lead.
  func run(ahead milliseconds: Int64) {
    ahead.nanoseconds.store(milliseconds * 1_000_000, ordering: .relaxed)
  }
}
