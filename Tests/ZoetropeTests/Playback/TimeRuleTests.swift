import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropePlayback

/// One rule says which frame a time shows, wherever a time may be passed.
@Suite(.timeLimit(.minutes(10))) struct TimeRuleTests {
  /// What is shown at `time`, found by walking through the plays one frame after the other.
  private static func walk(
    _ time: Duration, _ delays: [FrameDelay], _ policy: DelayPolicy, _ playCount: PlayCount
  ) -> Int {
    let shown = delays.map { policy.shownDuration(of: $0) }
    let last = delays.count - 1
    guard shown.contains(where: { $0 > .zero }) else { return last }
    var play = 0
    var start = Duration.zero
    while true {
      if case .finite(let count) = playCount, play >= count { return last }
      for (index, length) in shown.enumerated() {
        if max(time, .zero) < start + length { return index }
        start += length
      }
      play += 1
    }
  }

  private static func image(_ delays: [FrameDelay], _ playCount: PlayCount) throws -> AnimatedImage
  {
    var scan = ScannedImage()
    scan.header = ImageHeader(format: .gif, canvasSize: PaintedFrames.size)
    scan.frames = PaintedFrames.controls(delays)
    switch playCount {
    case .indefinite: scan.storedLoopCount = 0
    case .finite(let count): scan.storedLoopCount = count == 1 ? nil : UInt32(count - 1)
    }
    return try AnimatedImage(
      settled: scan, scannedAs: .gif, source: MemorySource([]), options: .init())
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `frameIndex, a seek and a seek before the end of a stream find the same frame`(
    seed: UInt64
  ) throws {
    var random = SplitMix64(seed: seed)
    let delays = (0..<Int.random(in: 1...5, using: &random)).map { _ in
      FrameDelay(centiseconds: [0, 1, 5, 10, 33].randomElement(using: &random)!)
    }
    let policy = Bool.random(using: &random) ? DelayPolicy.exact : .browser
    let playCount = [PlayCount.once, .finite(2), .finite(3), .indefinite]
      .randomElement(using: &random)!
    let image = try Self.image(delays, playCount)
    let play = image.duration(policy: policy)
    let starts = image.startTimes(policy: policy)
    var times = starts.flatMap { start in (0..<4).map { start + play * $0 } }
    times += times.map { $0 - .nanoseconds(1) } + times.map { $0 + .milliseconds(3) }
    times += [.zero, .seconds(-1), .seconds(Int64.max)]
    for time in times {
      let index = image.frameIndex(at: time, policy: policy)
      if time < .seconds(1000) {
        #expect(index == Self.walk(time, delays, policy, playCount), "\(time)")
      }
      let options = PlaybackOptions(delayPolicy: policy)
      for isPaused in [false, true] {
        var machine = try PlaybackStateMachine(
          frames: image.frames, playCount: playCount, options: options)
        if isPaused { _ = machine.handle(.pause, at: .zero) }
        _ = machine.handle(.seekToTime(time), at: .zero)
        #expect(machine.pending?.frame == index, "\(time)")
        guard case .fetch = machine.handle(.begin, at: .zero),
          case .present(let shown, _) = machine.handle(.ready(ahead: 0), at: .zero)
        else {
          Issue.record("nothing is shown at \(time)")
          continue
        }
        // A frame that takes time is shown for some of it.
        let length = policy.shownDuration(of: delays[index])
        #expect(shown.step.frame == index && shown.duration <= length)
        #expect(length == .zero || shown.duration > .zero, "\(time)")
      }
      // Sought while only the first frame is here, found when the others and the end are.
      var machine = try PlaybackStateMachine(
        frames: Array(image.frames.prefix(1)), playCount: playCount, options: options, isOpen: true)
      _ = machine.handle(.begin, at: .zero)
      _ = machine.handle(.seekToTime(time), at: .zero)
      let arrival = FrameArrival(
        frames: Array(image.frames.dropFirst()), playCount: playCount, isOpen: false)
      _ = machine.handle(.arrived(arrival), at: .zero)
      #expect(machine.pending?.frame == index, "\(time), streamed")
    }
  }

  @Test func `the end of one play is the start of the next, and of the last play its last frame`()
    throws
  {
    let delays = [FrameDelay](repeating: FrameDelay(centiseconds: 10), count: 3)
    for (playCount, index) in [(PlayCount.indefinite, 0), (.once, 2)] {
      let image = try Self.image(delays, playCount)
      #expect(image.frameIndex(at: image.duration()) == index)
      #expect(image.frameIndex(at: .milliseconds(450)) == (index == 0 ? 1 : 2))
    }
    let still = try Self.image(delays.map { _ in FrameDelay(centiseconds: 0) }, .indefinite)
    #expect(still.frameIndex(at: .zero, policy: .exact) == 2)
    let first = [FrameDelay(centiseconds: 0)] + delays
    #expect(try Self.image(first, .once).frameIndex(at: .seconds(-1), policy: .exact) == 1)
  }

  @Test func `in a range, a time before it gives its first frame and later ones its plays`() throws
  {
    let frames = PaintedFrames.controls(Array(repeating: FrameDelay(centiseconds: 10), count: 5))
    for (time, frame) in [(0, 1), (150, 1), (250, 2), (399, 3), (400, 1), (550, 2)] {
      var machine = try PlaybackStateMachine(
        frames: frames, playCount: .indefinite, options: PlaybackOptions(range: 1..<4))
      _ = machine.handle(.seekToTime(.milliseconds(time)), at: .zero)
      #expect(machine.pending?.frame == frame, "\(time)")
    }
  }
}
