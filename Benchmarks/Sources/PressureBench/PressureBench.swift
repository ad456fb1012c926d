import Glibc
import Zoetrope
import ZoetropeTestSupport

/// Fills the cache of the process, and plays from it while something else takes memory. Made to run in a control group
/// that is smaller than the cache's budget (`Scripts/small-group.sh`).
///
///     bench-pressure [BUDGET-MIB] [HOG-MIB] [SECONDS] [unwatched]
///
/// Prints one line per figure: `NAME VALUE UNIT`. `unwatched` shows that without watching memory pressure the kernel
/// kills the process.
@main struct PressureBench {
  static let size = PixelSize(width: 640, height: 480)

  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let number = { (place: Int, other: Int) in
      arguments.indices.contains(place) ? Int(arguments[place]) ?? other : other
    }
    let standard = MemoryBudget.defaultByteLimit
    let budget = MemoryBudget.shared
    budget.byteLimit = number(0, 512) << 20
    budget.watchesPressure = arguments.last != "unwatched"
    report("budget.default", standard >> 20, "MiB")
    report("budget.set", budget.byteLimit >> 20, "MiB")
    let image = try AnimatedImage(
      bytes: DeltaGIF.make(
        width: size.width, height: size.height, frameCount: 600, patch: 80))
    try await fill(image)
    try await play(image, hog: number(1, 32), seconds: number(2, 12))
  }

  /// Requests every frame as fast as possible.
  static func fill(_ image: AnimatedImage) async throws {
    let begin = ContinuousClock.now
    for index in image.frames.indices {
      _ = try await image.bitmap(at: index, cache: MemoryFrameCache.shared)
    }
    let took = begin.duration(to: .now)
    report("fill.frames", (image.frames.count * size.area * 4) >> 20, "MiB")
    report("fill.time", Int(took / .milliseconds(1)), "ms")
    reportCache("fill")
  }

  /// Plays at 20 frames a second while a hog grows, stays and shrinks, for a third of the time each.
  static func play(_ image: AnimatedImage, hog: Int, seconds: Int) async throws {
    var options = PlaybackOptions()
    options.playCount = .indefinite
    let scheduler = FrameScheduler(
      image, options: options, cache: MemoryFrameCache.shared, clock: ContinuousClock())
    let begin = ContinuousClock.now
    let third = Duration.seconds(seconds) / 3
    var blocks: [Hog] = []
    var phase = "hog"
    for await _ in scheduler.play().stream {
      let time = begin.duration(to: .now)
      if time >= third * 3 { break }
      if time < third {
        while blocks.count < Int(Double(hog) * (time / third)) { blocks.append(Hog()) }
      } else if time >= third * 2, phase == "hog" {
        report("hog", blocks.count, "MiB")
        reportCache(phase)
        blocks = []
        phase = "after"
      }
    }
    reportCache("after")
    let statistics = scheduler.statistics
    report("play.presented", statistics.presented, "frames")
    report("play.skipped", statistics.skipped, "frames")
    report("play.late.p99", statistics.lateness(atQuantile: 0.99) / .microseconds(1), "us")
  }

  static func reportCache(_ name: String) {
    let statistics = MemoryFrameCache.shared.statistics
    report("\(name).cache", statistics.byteCount >> 20, "MiB")
    report("\(name).limit", MemoryBudget.shared.usableBytes >> 20, "MiB")
    report("\(name).evictions", statistics.evictions, "frames")
  }

  static func report(_ name: String, _ value: some CustomStringConvertible, _ unit: String) {
    print(name, value, unit)
    // Write each line before the kernel can kill the process.
    fflush(nil)
  }
}
