import Zoetrope
import ZoetropeTestSupport

/// Runs many players of small animations at once. Measures how many frames are lost, and whether all players lose
/// equally many.
enum Crowd {
  /// Returns a GIF of 64×64 pixels. `delay` is in hundredths of a second.
  static func image(delay: UInt16, frames: Int = 24) throws -> AnimatedImage {
    try AnimatedImage(bytes: bytes(delay: delay, frames: frames))
  }

  private static func bytes(delay: UInt16, frames: Int = 24) -> [UInt8] {
    let size = PixelSize(width: 64, height: 64)
    let palette = GIFPalette(
      (0..<64).map { RGBA(red: UInt8($0 * 4), green: UInt8(255 - $0), blue: 90, alpha: 255) })
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: size.width, height: size.height, palette: palette)
    gif.raw([0x21, 0xff, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0])
    for frame in 0..<frames {
      gif.graphicControl(GIFGraphicControl(delay: delay, disposal: 1))
      let indices = (0..<size.area).map { place in
        UInt8((place % size.width / 2 + place / size.width / 3 + frame) & 63)
      }
      gif.frame(GIFFrame(rect: PixelRect(size), indices: indices))
    }
    gif.trailer()
    return gif.bytes
  }

  static func measure(counts: [Int]) async throws {
    for count in counts {
      let bytes = bytes(delay: 4)
      let images = try (0..<count).map { _ in try AnimatedImage(bytes: bytes) }
      await playOnce(images)
      await playOn(images, seconds: 5)
    }
  }

  /// Each player shows its 24 frames once, at 25 frames a second. All start together.
  private static func playOnce(_ images: [AnimatedImage]) async {
    let start = Resources.processorTime
    let began = ContinuousClock.now
    var shares: [(shown: Int, lost: Int)] = []
    await withTaskGroup(of: (shown: Int, lost: Int).self) { group in
      for image in images {
        group.addTask {
          await play(FrameScheduler(image, options: PlaybackOptions(playCount: .once)))
        }
      }
      for await one in group { shares.append(one) }
    }
    let used = (Resources.processorTime - start) / (ContinuousClock.now - began)
    report("once", shares, used)
  }

  /// Each player runs for some seconds. Frames of the first second do not count.
  private static func playOn(_ images: [AnimatedImage], seconds: Int) async {
    let schedulers = images.map {
      FrameScheduler($0, options: PlaybackOptions(playCount: .indefinite))
    }
    await withTaskGroup(of: Void.self) { group in
      for scheduler in schedulers { group.addTask { _ = await play(scheduler) } }
      try? await Task.sleep(for: .seconds(1))
      let before = schedulers.map(\.shares)
      let start = Resources.processorTime
      let began = ContinuousClock.now
      try? await Task.sleep(for: .seconds(seconds))
      let used = (Resources.processorTime - start) / (ContinuousClock.now - began)
      var after = schedulers.map(\.shares)
      for scheduler in schedulers { scheduler.stop() }
      for (index, one) in before.enumerated() {
        after[index] = (after[index].shown - one.shown, after[index].lost - one.lost)
      }
      report("\(seconds) s", after, used)
    }
  }

  private static func report(
    _ name: String, _ statistics: [(shown: Int, lost: Int)], _ used: Double
  ) {
    let shown = statistics.map(\.shown)
    let lost = statistics.reduce(0) { $0 + $1.lost }
    print(
      "\(statistics.count) players, \(name): \(shown.reduce(0, +)) frames, \(lost) lost,",
      "each \(shown.min() ?? 0) to \(shown.max() ?? 0), \((used * 100).rounded() / 100) cores")
  }

  @concurrent private static func play(
    _ scheduler: FrameScheduler
  ) async -> (shown: Int, lost: Int) {
    for await _ in scheduler.play().stream {}
    return scheduler.shares
  }
}

extension FrameScheduler {
  /// The numbers of frames that the consumer received, and that it did not.
  fileprivate var shares: (shown: Int, lost: Int) {
    let statistics = statistics
    return (
      statistics.presented - statistics.replaced, statistics.skipped + statistics.replaced
    )
  }
}
