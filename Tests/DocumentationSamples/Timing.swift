import Zoetrope

func samplesOfTiming(_ image: AnimatedImage) async throws -> (Int, Bitmap) {
  let stored = image.frames.map(\.delay)  // exactly as in the file, such as 3/100 s
  let shown = stored.map { DelayPolicy.browser.shownDuration(of: $0) }
  print(shown, image.duration(), image.duration(policy: .exact))

  let starts = image.startTimes()  // and, as the last entry, the end of the play
  let index = image.frameIndex(at: .milliseconds(1500))
  let picture = try await image.bitmap(at: .milliseconds(1500))
  print(starts)

  let scheduler = FrameScheduler(image, options: PlaybackOptions(recordsTrace: true))
  for try await frame in scheduler.play() { show(frame.bitmap, at: frame.presentationTime) }
  let statistics = scheduler.statistics
  print(statistics.lateness(atQuantile: 0.5), statistics.lateness(atQuantile: 0.99))
  print(statistics.maximumLateness)
  print(scheduler.trace.json)  // one line per frame
  return (index, picture)
}
