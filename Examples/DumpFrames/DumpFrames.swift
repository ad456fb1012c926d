import SystemPackage
import Zoetrope

/// Prints what each frame of a file shows, decoding on all cores:
///
///     dump-frames party.gif
@main
struct DumpFrames {
  static func main() async throws {
    guard let path = CommandLine.arguments.dropFirst().first else {
      print("usage: dump-frames FILE")
      return
    }
    let image = try AnimatedImage(contentsOf: FilePath(path))
    print("\(image.format.rawValue) \(image.canvasSize), \(image.frames.count) frames")
    for try await frame in image.bitmaps() {
      let control = image.frames[frame.index]
      print("\(frame.index): \(control.delay), \(control.rect), changed \(frame.dirtyRect)")
      if let damage = frame.damage { print("  \(damage)") }
    }
  }
}
