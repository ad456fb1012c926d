import Zoetrope
import ZoetropeTestSupport

/// Resident bytes while many frames are played.
enum Memory {
  static func measure(frames: Int, parallelism: Int) async throws {
    let image = try TestAnimation.image(parallelism: parallelism)
    let canvas = TestAnimation.size.area * 4
    let before = Resources.now.residentBytes
    var options = PlaybackOptions.everyFrame
    options.playCount = .indefinite
    let scheduler = FrameScheduler(image, options: options, clock: ManualClock(.jumping))
    var shown = 0
    for await _ in scheduler.frames() {
      shown += 1
      if shown % max(frames / 10, 1) == 0 || shown == 1000 {
        let growth = Resources.now.residentBytes - before
        print(
          "frames=\(shown) growth_kib=\(growth / 1024) canvases=\(Double(growth) / Double(canvas))")
      }
      if shown >= frames { break }
    }
  }
}
