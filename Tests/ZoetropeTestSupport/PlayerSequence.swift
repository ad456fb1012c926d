internal import Zoetrope

/// A random run of a whole player on a jumping clock, whose invariants are checked at each frame. Decoding on other
/// threads, the hand-over to the consumer, and the consumer's delays are real.
package struct PlayerSequence {
  private var choices: RandomPlayback
  private let options: PlaybackOptions
  private let frames: [FrameControl]
  private let shared: SharedFrames
  private let scheduler: FrameScheduler
  private var iterator: AsyncStream<ScheduledFrame>.Iterator
  private var last: ScheduledFrame?
  /// The target frame of each seek, by the seek count of the frames after it.
  private var sought: [Int: Int] = [:]
  /// Whether every frame since the last seek is kept for the consumer.
  private var losesNone = true
  private var operations: [String] = []
  private var violations: [String] = []

  /// Runs `count` operations; returns violated invariants, with the operations that led to them.
  package static func violations(seed: UInt64, operations count: Int) async -> [String] {
    var sequence = PlayerSequence(seed: seed)
    for _ in 0..<count where sequence.violations.isEmpty {
      if sequence.scheduler.state.isEnded { break }
      await sequence.operate()
    }
    sequence.scheduler.stop()
    if !(await sequence.scheduler.waitUntilEnded()).isEnded {
      sequence.violations.append("does not end")
    }
    return sequence.violations.map {
      "seed \(seed): \($0) after \(sequence.operations.suffix(12)) of \(sequence.options)"
        + " with \(sequence.frames.map { "\($0.delay)" })"
    }
  }

  private init(seed: UInt64) {
    choices = RandomPlayback(seed: seed)
    frames = choices.frames()
    options = choices.options(for: frames.count)
    shared = SharedFrames(
      frames: frames, canvasSize: PixelSize(width: 1, height: 1), playCount: choices.playCount(),
      keeping: choices.number(0...2)
    ) { () throws(AnimatedImageError) in OnePixelFrames() }
    scheduler = FrameScheduler(sharing: shared, options: options, clock: ManualClock(.jumping))
    iterator = scheduler.play().stream.makeAsyncIterator()
  }

  private mutating func operate() async {
    let scheduler = scheduler
    switch choices.number(0...9) {
    case 0:
      operations.append("pause")
      scheduler.pause()
    case 1:
      operations.append("resume")
      scheduler.resume()
      losesNone = losesNone && options.buffering == .lossless
    case 2:
      let range = options.range ?? frames.indices
      let frame = choices.number(range.lowerBound...range.upperBound - 1)
      operations.append("seek to frame \(frame)")
      _ = try? scheduler.seek(toFrame: frame)
      noteSeek(to: frame)
    case 3: seekToTime()
    case 4:
      let rate = choices.rate()
      operations.append("rate \(rate)")
      scheduler.rate = rate
    case 5:
      let direction: PlaybackDirection = choices.happens(oneIn: 2) ? .forward : .backward
      operations.append("\(direction)")
      scheduler.direction = direction
    default: await take()
    }
  }

  private mutating func seekToTime() {
    let timeline = PlaybackTimeline(
      frames, policy: options.delayPolicy, fixedDelay: options.fixedDelay)
    let range = options.range ?? frames.indices
    let starts = (0...frames.count).map {
      timeline.time(timeline.ticks(0..<$0), at: PlaybackRate(1))
    }
    let index = choices.number(range.lowerBound...range.upperBound - 1)
    operations.append("seek to \(starts[index])")
    scheduler.seek(to: starts[index])
    if starts[index] < starts[index + 1] {
      noteSeek(to: index)
    } else {
      losesNone = false
    }
  }

  private mutating func noteSeek(to frame: Int) {
    sought[scheduler.seekCount] = frame
    losesNone = options.buffering == .lossless || scheduler.state == .paused
  }

  /// Takes a frame where one is certain to arrive.
  private mutating func take() async {
    let wanted = scheduler.seekCount
    if scheduler.state == .paused, let last, last.seekCount == wanted { return }
    operations.append("take")
    guard let frame = await iterator.next(isolation: #isolation) else {
      return check(scheduler.state.isEnded, "the stream ends while \(scheduler.state)")
    }
    check(frame.duration >= .zero, "duration \(frame.duration)")
    check(frame.lateness >= .zero, "lateness \(frame.lateness)")
    check(frame.skipped >= 0 && frame.play >= 0, "skipped \(frame.skipped), play \(frame.play)")
    if let last {
      check(
        frame.presentationTime >= last.presentationTime,
        "time goes back from \(last.presentationTime) to \(frame.presentationTime)")
      check(frame.seekCount >= last.seekCount, "seeks go back")
    } else {
      check(frame.presentationTime >= .zero, "begins at \(frame.presentationTime)")
    }
    if losesNone, frame.seekCount == wanted, frame.seekCount != last?.seekCount ?? 0,
      let index = sought[frame.seekCount]
    {
      check(frame.index == index, "shows \(frame.index), not \(index)")
    }
    last = frame
  }

  private mutating func check(_ holds: Bool, _ message: String) {
    if !holds { violations.append(message) }
  }
}

/// Frames of one pixel.
private final class OnePixelFrames: FrameProducing {
  func frame(
    at index: Int, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame {
    CompositedFrame(
      index: index, bitmap: PixelBuffer(size: PixelSize(width: 1, height: 1)).finish(),
      dirtyRect: PixelRect(x: 0, y: 0, width: 1, height: 1))
  }
}
