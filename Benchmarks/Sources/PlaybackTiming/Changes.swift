import Zoetrope
import ZoetropeTestSupport

/// Compares the processor time of playing a canvas of which 40x40 pixels change, unscaled and scaled, with that of a
/// reader. Both keep the last frame, as a view does.
enum Changes {
  /// The last size is that of a tall, narrow file of 29 KB.
  private static let sizes = [(480, 360), (1920, 1080), (3000, 2000), (174, 58258)]

  static func measure(frames: Int, only name: String?) async throws {
    for (width, height) in sizes where name == nil || name == "\(width)x\(height)" {
      let image = try image(PixelSize(width: width, height: height))
      for target in [TargetSize?.none, TargetSize(width: width * 2 / 3)] {
        let rendering = Rendering(target: target)
        var values: [[Double]] = [[], []]
        for _ in 0..<3 {
          values[0].append(try read(image, count: frames))
          values[1].append(try await play(image, rendering, count: frames))
        }
        let (reading, playing) = (values[0].sorted()[1], values[1].sorted()[1])
        let factor = (playing / reading * 100).rounded() / 100
        print(
          "\(width)x\(height)", target == nil ? "as decoded" : "scaled",
          "read_us=\(reading.rounded()) play_us=\(playing.rounded()) play_over_read=\(factor)")
      }
    }
  }

  /// Plays at the pace of the file, which keeps the frames decoded ahead in memory, as a jumping clock may not.
  static func playAtPace(_ size: PixelSize) async throws {
    let scheduler = FrameScheduler(try image(size))
    let end = ContinuousClock.now + .seconds(3)
    var last: ScheduledFrame?
    for await frame in scheduler.play().stream {
      last = frame
      if ContinuousClock.now > end { break }
    }
    withExtendedLifetime(last) {}
  }

  private static func image(_ size: PixelSize) throws -> AnimatedImage {
    let palette = GIFPalette(
      (0..<64).map { RGBA(red: UInt8($0 * 4), green: UInt8(255 - $0), blue: 90, alpha: 255) })
    var random = SplitMix64(seed: 1)
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: size.width, height: size.height, palette: palette)
    gif.raw([0x21, 0xff, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0])
    for frame in 0..<50 {
      gif.graphicControl(GIFGraphicControl(delay: 2, disposal: 1))
      let rect =
        frame == 0
        ? PixelRect(size)
        : PixelRect(
          x: Int.random(in: 0...size.width - 40, using: &random),
          y: Int.random(in: 0...size.height - 40, using: &random), width: 40, height: 40)
      let indices = (0..<rect.size.area).map { UInt8(($0 / 7 + frame) & 63) }
      gif.frame(GIFFrame(rect: rect, indices: indices))
    }
    gif.trailer()
    return try AnimatedImage(bytes: gif.bytes, options: DecodingOptions(parallelism: 1))
  }

  /// Returns microseconds per frame, after one play.
  private static func read(_ image: AnimatedImage, count: Int) throws -> Double {
    let reader = FrameReader(image)
    let meter = Meter(skipping: 50)
    var last: CompositedFrame?
    for _ in 0..<50 + count {
      if last?.index == 49 { reader.rewind() }
      last = try reader.next()
      meter.tick()
    }
    withExtendedLifetime(last) {}
    return meter.usage.microseconds
  }

  private static func play(
    _ image: AnimatedImage, _ rendering: Rendering, count: Int
  ) async throws -> Double {
    var options = PlaybackOptions.everyFrame
    options.playCount = .indefinite
    let scheduler = FrameScheduler(
      image, rendering: rendering, options: options, clock: ManualClock(.jumping))
    let meter = Meter(skipping: 50)
    await Task.detached {
      var shown = 0
      // Keeps each frame until the next one, as a view that shows it does.
      var last: ScheduledFrame?
      for await frame in scheduler.play().stream {
        last = frame
        shown += 1
        meter.tick()
        if shown >= 50 + count { break }
      }
      withExtendedLifetime(last) {}
    }.value
    return meter.usage.microseconds
  }
}
