/// Plays the animation in the file at `path`, and calls `handler` with each frame when the frame is due.
///
/// This function is the counterpart of `CGAnimateImageAtURLWithBlock` in Image I/O, with two differences: the function
/// returns when the animation has ended, and the handler runs in the caller's isolation. Delays follow
/// ``DelayPolicy/imageIO`` unless ``AnimateImageOptions/delayTime`` is set. For a still image, the handler is called
/// once, and the animation ends after the image's delay. The handler gets every frame of every play once, in order. If
/// a call of the handler takes longer than the duration of its frame, the following frames are shown later but keep
/// their durations. The file is read and decoded on the library's own threads.
///
/// - Parameters:
///   - path: The path of the file.
///   - options: The start frame, frame durations, number of plays and decoding options.
///   - clock: The clock that times the frames. Default: the system's clock.
///   - handler: The function to call with each frame's index and bitmap. If it sets `stop` to true, the animation ends
///     immediately.
/// - Returns: How the animation ended: `finished`; `stopped` if the handler set `stop`; `cancelled` if the task was
///   cancelled; or `failed` with the error. Cancelling the task ends the animation immediately, even while the file is
///   being opened.
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

/// Plays an animation in memory, and calls `handler` with each frame when the frame is due.
///
/// For details, see ``animateImage(at:options:clock:handler:)``.
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

/// Plays `shared`, the frames of an image that is already open, as ``animateImage(at:options:clock:handler:)`` does.
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

/// Options of ``animateImage(at:options:clock:handler:)``, which correspond to the options that Image I/O documents for
/// its function.
public struct AnimateImageOptions: Sendable, Hashable {
  /// The index of the first frame shown. Default: 0. If the index is past the last frame, playback fails with
  /// ``AnimatedImageError/Code/parameter``.
  public var startIndex: Int
  /// The time for which every frame is shown, instead of the frame's own delay. The time must not be negative. Default:
  /// nil, which keeps each frame's own delay.
  public var delayTime: Duration?
  /// The total number of plays, or `.indefinite`. Default: nil, the number stored in the file.
  public var loopCount: PlayCount?
  /// The options for opening and decoding the image, including limits. Default: `DecodingOptions()`.
  public var decoding: DecodingOptions

  /// Creates options. Omitted arguments have the defaults documented for the properties.
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
