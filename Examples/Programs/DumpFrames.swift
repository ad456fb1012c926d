import Zoetrope

/// Prints what each frame of a file shows, decoding on all cores:
///
///     examples dump-frames party.gif
enum DumpFrames {
  static func run(_ arguments: [String]) async throws {
    guard let path = arguments.first else { throw Usage("dump-frames FILE") }
    let image = try await AnimatedImage.open(path)
    print("\(image.format.rawValue) \(image.canvasSize), \(image.frames.count) frames")
    for try await frame in image.bitmaps() {
      let control = image.frames[frame.index]
      print("\(frame.index): \(control.delay), \(control.rect), changed \(frame.dirtyRect)")
      if let damage = frame.damage { print("  \(damage)") }
    }
  }
}
