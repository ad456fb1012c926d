import Zoetrope

func samplesOfPlaying(_ image: AnimatedImage, _ target: TargetSize) async throws {
  let scheduler = FrameScheduler(image)
  for try await frame in scheduler.play() {
    show(frame.bitmap, at: frame.presentationTime)
  }
  print(scheduler.state, scheduler.statistics.presented)

  let options = PlaybackOptions(
    playCount: .finite(2), rate: 0.5, direction: .backward, startIndex: 3, delayPolicy: .exact,
    latePolicy: .catchUp(maximumRate: 4))
  let everyFrame = FrameScheduler(image, options: .everyFrame)

  let thumbnail = image.play(rendering: Rendering(target: target))
  for await frame in thumbnail.stream { show(frame.bitmap, at: frame.presentationTime) }

  let shared = SharedFrames(image)
  let left = FrameScheduler(sharing: shared)
  let right = FrameScheduler(sharing: shared, options: PlaybackOptions(rate: 2))
  print(options, everyFrame.state, left.state, right.state)
}

@MainActor
func sampleOfObserving(_ image: AnimatedImage, _ target: TargetSize) {
  let animator = ImageAnimator(image, rendering: Rendering(target: target))
  animator.start()
  if let picture = animator.bitmap { show(picture, at: .zero) }  // read it where your view observes
  animator.stop()
}
