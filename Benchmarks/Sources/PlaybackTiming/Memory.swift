import Zoetrope
import ZoetropeTestSupport

/// Measures resident bytes while many frames are played.
enum Memory {
  static func measure(frames: Int, parallelism: Int) async throws {
    let image = try TestAnimation.image(parallelism: parallelism)
    let canvas = TestAnimation.size.area * 4
    let before = Resources.now.residentBytes
    var options = PlaybackOptions.everyFrame
    options.playCount = .indefinite
    let scheduler = FrameScheduler(image, options: options, clock: ManualClock(.jumping))
    let canvases = { Double(Resources.now.residentBytes - before) / Double(canvas) }
    var shown = 0
    var most = 0.0
    for await _ in scheduler.play().stream {
      shown += 1
      if shown % 100 == 0 { most = max(most, canvases()) }
      if shown == 1000 || shown % max(frames / 10, 1) == 0 {
        print("frames=\(shown) canvases=\(canvases()) most=\(most)")
      }
      if shown >= frames { break }
    }
  }
}
