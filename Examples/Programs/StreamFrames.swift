import Zoetrope

/// Prints each frame of standard input as soon as it can be shown, and how the stream ended:
///
///     curl -s https://example.org/party.gif | examples stream-frames
///
/// With `--play`, prints each frame at its time.
enum StreamFrames {
  static func run(_ arguments: [String]) async throws {
    let image = try await StreamedImage(FileChunks(.standardInput))
    print("\(image.format.rawValue) \(image.canvasSize)")
    if arguments == ["--play"] {
      let scheduler = FrameScheduler(image, options: PlaybackOptions(playCount: .once))
      for try await frame in scheduler.play() {
        print("\(frame.index): at \(frame.presentationTime), shown \(frame.duration)")
      }
      print("waited for bytes \(scheduler.statistics.stalls) times")
    } else {
      for try await frame in image.bitmaps() {
        let progress = image.progress
        print("\(frame.index): changed \(frame.dirtyRect), \(progress.byteCount) bytes received")
      }
    }
    if let ending = await image.waitUntilEnded() { print("\(ending), \(image.frameCount) frames") }
  }
}
