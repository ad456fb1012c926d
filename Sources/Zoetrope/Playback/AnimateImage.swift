/// Plays an animation in memory: calls `handler` with each frame at its time.
///
/// As ``animateImage(at:options:clock:handler:)``.
public func animateImage(
  bytes: [UInt8], options: AnimationOptions = .init(),
  clock: some Clock<Duration> = ContinuousClock(),
  handler: (_ index: Int, _ bitmap: Bitmap, _ stop: inout Bool) -> Void
) async -> AnimationStatus {
  await animate(options: options, clock: clock, handler: handler) {
    () throws(AnimatedImageError) in try AnimatedImage(bytes: bytes)
  }
}

/// Opens an image off the caller's thread, then plays it.
private func animate(
  options: AnimationOptions, clock: some Clock<Duration>,
  handler: (_ index: Int, _ bitmap: Bitmap, _ stop: inout Bool) -> Void,
  open: @escaping @Sendable () throws(AnimatedImageError) -> AnimatedImage
) async -> AnimationStatus {
  let opened = await DecodeThreads.shared.result {
    () -> Result<AnimatedImage, AnimatedImageError> in
    Result { () throws(AnimatedImageError) in try open() }
  }
  switch opened {
  case .failure(let error): return AnimationStatus(error)
  case .success(let image):
    return await animate(
      SharedFrames(image, keeping: 0), options: options, clock: clock, handler: handler)
  }
}

/// Plays frames that are already at hand.
package func animate(
  _ shared: SharedFrames, options: AnimationOptions, clock: some Clock<Duration>,
  handler: (_ index: Int, _ bitmap: Bitmap, _ stop: inout Bool) -> Void
) async -> AnimationStatus {
  if let delay = options.delayTime, delay < .zero { return .parameterError }
  let scheduler = FrameScheduler(
    sharing: shared,
    options: PlaybackOptions(
      playCount: options.loopCount, startIndex: options.startIndex, fixedDelay: options.delayTime,
      delayPolicy: .imageIO),
    clock: clock)
  for await frame in scheduler.frames() {
    var stop = false
    handler(frame.index, frame.bitmap, &stop)
    if stop { scheduler.stop() }
  }
  switch scheduler.state {
  case .finished: return .finished
  case .stopped: return .stopped
  case .failed(let error): return AnimationStatus(error)
  case .cancelled, .idle, .playing, .paused: return .cancelled
  }
}
