/// Plays the animation in the file at `path`, calling `handler` with each frame at its time.
///
/// The counterpart of `CGAnimateImageAtURLWithBlock`, with two differences: it returns when the animation has ended,
/// and the handler runs in the caller's isolation. Delays follow ``DelayPolicy/imageIO`` unless
/// ``AnimateImageOptions/delayTime`` is set. A still image is passed once and stays for its delay. The handler gets every
/// frame of every play once, in order. If it takes longer than a frame lasts, the following frames are delayed but keep
/// their durations. The file is read and decoded on the library's own threads.
///
/// - Parameters:
///   - path: The file.
///   - options: The start frame, frame durations, number of plays and decoding options.
///   - clock: The clock that frames are timed by. Default: the system's clock.
///   - handler: Called with the frame's index and bitmap. Setting `stop` ends the animation immediately.
/// - Returns: How the animation ended: `finished`, `stopped` if the handler set `stop`, `cancelled`, or `failed` with
///   the error. Cancelling the task ends the animation immediately, even while the file is being opened.
public func animateImage(
  at path: some FilePathConvertible, options: AnimateImageOptions = .init(),
  clock: some Clock<Duration> = ContinuousClock(),
  handler: (_ index: Int, _ bitmap: Bitmap, _ stop: inout Bool) -> Void
) async -> PlaybackState {
  do throws(AnimatedImageError) {
    let image = try await AnimatedImage.open(path, options: options.decoding)
    return await animate(
      SharedFrames(image, keeping: 0), options: options, clock: clock, handler: handler)
  } catch { return error.code == .cancelled ? .cancelled : .failed(error) }
}

/// Plays an animation in memory, calling `handler` with each frame at its time.
///
/// See ``animateImage(at:options:clock:handler:)``.
public func animateImage(
  bytes: [UInt8], options: AnimateImageOptions = .init(),
  clock: some Clock<Duration> = ContinuousClock(),
  handler: (_ index: Int, _ bitmap: Bitmap, _ stop: inout Bool) -> Void
) async -> PlaybackState {
  do throws(AnimatedImageError) {
    let image = try await AnimatedImage.open(bytes: bytes, options: options.decoding)
    return await animate(
      SharedFrames(image, keeping: 0), options: options, clock: clock, handler: handler)
  } catch { return error.code == .cancelled ? .cancelled : .failed(error) }
}

/// Plays the frames of an image that is already open.
package func animate(
  _ shared: SharedFrames, options: AnimateImageOptions, clock: some Clock<Duration>,
  handler: (_ index: Int, _ bitmap: Bitmap, _ stop: inout Bool) -> Void
) async -> PlaybackState {
  let scheduler = FrameScheduler(
    sharing: shared,
    options: PlaybackOptions(
      playCount: options.loopCount, startIndex: options.startIndex, delayPolicy: .imageIO,
      fixedDelay: options.delayTime, latePolicy: .stretch, buffering: .lossless),
    clock: clock)
  for await frame in scheduler.play().stream {
    var stop = false
    handler(frame.index, frame.bitmap, &stop)
    if stop { scheduler.stop() }
  }
  let state = scheduler.state
  return state.isEnded ? state : .cancelled
}

/// The options of ``animateImage(at:options:clock:handler:)``, which correspond to those documented by Image I/O.
public struct AnimateImageOptions: Sendable, Hashable {
  /// The index of the first frame shown. Default: 0. An index past the last frame is a parameter error.
  public var startIndex: Int
  /// The time for which every frame is shown, instead of its own delay. Must not be negative. Default: nil, each
  /// frame's own delay.
  public var delayTime: Duration?
  /// The total number of plays, or `.indefinite`. Default: nil, as stored in the file.
  public var loopCount: PlayCount?
  /// The options for opening and decoding the image, including limits. Default: `DecodingOptions()`.
  public var decoding: DecodingOptions

  /// Creates options.
  public init(
    startIndex: Int = 0, delayTime: Duration? = nil, loopCount: PlayCount? = nil,
    decoding: DecodingOptions = .init()
  ) {
    self.startIndex = startIndex
    self.delayTime = delayTime
    self.loopCount = loopCount
    self.decoding = decoding
  }
}
