import Zoetrope

import ZoetropeCaching
import ZoetropeCodec
import ZoetropeCore
import ZoetropeFrames
import ZoetropePlayback
import ZoetropeStore
import ZoetropeTestSupport

/// The life of one player: steered before its first frame and after any, and ended in one of the ways
/// there are. What it shows is checked frame by frame.
struct PlayerLife {
  private enum Ending: CaseIterable {
    case stop, cancel, leave, failingSeek
  }

  let shared: SharedFrames
  let pictures: ExpectedPictures
  let seed: UInt64

  /// Gives what was wrong.
  func run() async -> [String] {
    var random = SplitMix64(seed: seed)
    let options = PlaybackOptions(
      playCount: Int.random(in: 0..<4, using: &random) == 0 ? .finite(1) : .indefinite,
      rate: [1, 0.25, 7].randomElement(using: &random) ?? 1,
      direction: Bool.random(using: &random) ? .forward : .backward,
      bounces: Bool.random(using: &random),
      delayPolicy: Bool.random(using: &random) ? .exact : .browser,
      fixedDelay: [nil, nil, .zero, .milliseconds(7), .seconds(Int64.max)]
        .randomElement(using: &random) ?? nil,
      latePolicy: [.skip, .stretch, .latest, .catchUp(maximumRate: 2)]
        .randomElement(using: &random) ?? .skip,
      buffering: Bool.random(using: &random) ? .newest : .lossless,
      decodeAhead: Int.random(in: 1...3, using: &random))
    // The real clock: one frame is on time at once, later ones would be waited for.
    if Int.random(in: 0..<8, using: &random) == 0 {
      return await play(
        FrameScheduler(sharing: shared, options: options, clock: ContinuousClock()), 1, options,
        &random)
    }
    let limit = Int.random(in: 0...8, using: &random)
    return await play(
      FrameScheduler(sharing: shared, options: options, clock: ManualClock(.jumping)), limit,
      options,
      &random)
  }

  private func play(
    _ scheduler: FrameScheduler, _ limit: Int, _ options: PlaybackOptions,
    _ random: inout SplitMix64
  ) async -> [String] {
    let ending = Ending.allCases[Int.random(in: 0..<Ending.allCases.count, using: &random)]
    var steering = SplitMix64(seed: random.next())
    // With a stranger at the controls, what was asked for last is not known.
    let isAlone = Bool.random(using: &random)
    let strangerSeed = random.next()
    let frames = scheduler.play().stream
    for _ in 0..<Int.random(in: 0...3, using: &random) { _ = steer(scheduler, &steering) }
    let wanted = isAlone ? steer(scheduler, &steering) : nil
    let consumer = Task { [steering] in
      var steering = steering
      var watch = FrameWatch(pictures, size: shared.frameSize)
      watch.wanted = options.buffering == .lossless ? wanted : nil
      var count = 0
      if limit == 0 { return watch.faults }
      for await frame in frames {
        watch.see(frame)
        count += 1
        if count >= limit { break }
        if isAlone && Bool.random(using: &steering) {
          let wanted = steer(scheduler, &steering)
          if options.buffering == .lossless { watch.wanted = wanted }
        }
      }
      return watch.faults
    }
    if !isAlone {
      var stranger = SplitMix64(seed: strangerSeed)
      for _ in 0..<Int.random(in: 1...4, using: &stranger) { _ = steer(scheduler, &stranger) }
    }
    switch ending {
    case .stop: scheduler.stop()
    case .cancel: consumer.cancel()
    case .leave: break
    case .failingSeek:
      _ = try? scheduler.seek(toFrame: shared.frames.count + 7)
      scheduler.stop()
    }
    return await consumer.value
  }

  /// Does one thing to a player; gives the seek to a frame that this was, with its number among all.
  private func steer(
    _ scheduler: FrameScheduler, _ random: inout SplitMix64
  ) -> (frame: Int, seekCount: Int)? {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: scheduler.rate = [0.1, 0.5, 1, 3, 40].randomElement(using: &random) ?? 1
    case 1:
      scheduler.pause()
      scheduler.resume()
    case 2:
      let frame = Int.random(in: 0..<shared.frames.count, using: &random)
      _ = try? scheduler.seek(toFrame: frame)
      return (frame, scheduler.seekCount)
    case 3: scheduler.seek(to: .milliseconds(Int.random(in: 0...2000, using: &random)))
    case 4: scheduler.direction = .backward
    default: scheduler.direction = .forward
    }
    return nil
  }
}

/// Looks at each frame of one stream.
struct FrameWatch {
  private let pictures: ExpectedPictures
  private let size: PixelSize
  private var last: ScheduledFrame?
  private(set) var faults: [String] = []
  /// The seek to a frame that nothing came after.
  var wanted: (frame: Int, seekCount: Int)?

  init(_ pictures: ExpectedPictures, size: PixelSize) {
    self.pictures = pictures
    self.size = size
  }

  mutating func see(_ frame: ScheduledFrame) {
    let name = "frame \(frame.index) of play \(frame.play)"
    if frame.duration < .zero { faults.append("\(name) lasts \(frame.duration)") }
    if frame.lateness < .zero { faults.append("\(name) is \(frame.lateness) late") }
    if frame.skipped < 0 { faults.append("\(name) skipped \(frame.skipped)") }
    if frame.bitmap != pictures[frame.index] { faults.append("\(name) has other pixels") }
    let whole = PixelRect(size)
    if !whole.contains(frame.dirtyRect) { faults.append("\(name): dirty \(frame.dirtyRect)") }
    if let last {
      if frame.seekCount == last.seekCount, frame.presentationTime < last.presentationTime {
        faults.append("\(name) at \(frame.presentationTime) after \(last.presentationTime)")
      }
      if ExpectedPictures.differences(last.bitmap, frame.bitmap, outside: frame.dirtyRect) != 0 {
        faults.append("\(name) changes outside of \(frame.dirtyRect), after \(last.index)")
      }
    } else if frame.dirtyRect != whole {
      faults.append("\(name) comes first with \(frame.dirtyRect)")
    }
    if let wanted, frame.seekCount == wanted.seekCount {
      if frame.index != wanted.frame { faults.append("a seek to \(wanted.frame) gave \(name)") }
      self.wanted = nil
    }
    last = frame
  }
}
