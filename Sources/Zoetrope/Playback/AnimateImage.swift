public import SystemPackage

/// Plays the animation in the file at `path`: calls `handler` with each frame at its time.
///
/// What `CGAnimateImageAtURLWithBlock` is on other systems, with two differences: it returns when the
/// animation is over, and its handler runs where the caller runs. Delays are shown by
/// ``DelayPolicy/imageIO`` unless ``AnimationOptions/delayTime`` is set. A still picture is handed over
/// once and held for its delay. The handler gets every frame of every play once, in order: one that
/// takes longer than its frame lasts delays those after it, which keep their own durations. The file
/// is read and decoded on threads of the library's own.
///
/// - Parameters:
///   - path: the file.
///   - options: where it starts, how long frames are shown, how often it plays, how it is opened.
///   - clock: where time comes from. Default: the system's clock.
///   - handler: gets the frame's index and picture; setting `stop` ends the animation at once.
/// - Returns: why it ended. Cancelling the task is one of the reasons and takes effect at once, while
///   the file is being opened too.
public func animateImage(
  at path: FilePath, options: AnimationOptions = .init(),
  clock: some Clock<Duration> = ContinuousClock(),
  handler: (_ index: Int, _ bitmap: Bitmap, _ stop: inout Bool) -> Void
) async -> AnimationStatus {
  await animate(options: options, clock: clock, handler: handler) {
    () throws(AnimatedImageError) in
    try AnimatedImage(contentsOf: path, options: options.decoding)
  }
}

/// Plays an animation in memory: calls `handler` with each frame at its time.
///
/// As ``animateImage(at:options:clock:handler:)``.
public func animateImage(
  bytes: [UInt8], options: AnimationOptions = .init(),
  clock: some Clock<Duration> = ContinuousClock(),
  handler: (_ index: Int, _ bitmap: Bitmap, _ stop: inout Bool) -> Void
) async -> AnimationStatus {
  await animate(options: options, clock: clock, handler: handler) {
    () throws(AnimatedImageError) in
    try AnimatedImage(bytes: bytes, options: options.decoding)
  }
}

/// Opens an image off the caller's thread, then plays it.
private func animate(
  options: AnimationOptions, clock: some Clock<Duration>,
  handler: (_ index: Int, _ bitmap: Bitmap, _ stop: inout Bool) -> Void,
  open: @escaping @Sendable () throws(AnimatedImageError) -> AnimatedImage
) async -> AnimationStatus {
  let opened = await DecodeThreads.loading.resultUnlessCancelled {
    () -> Result<AnimatedImage, AnimatedImageError> in
    Result { () throws(AnimatedImageError) in try open() }
  }
  switch opened {
  case nil: return .cancelled
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
  let scheduler = FrameScheduler(
    sharing: shared,
    options: PlaybackOptions(
      playCount: options.loopCount, startIndex: options.startIndex, fixedDelay: options.delayTime,
      delayPolicy: .imageIO, latePolicy: .stretch, buffering: .lossless),
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

/// The options of ``animateImage(at:options:clock:handler:)``, as Image I/O documents them.
public struct AnimationOptions: Sendable, Hashable {
  /// The first frame that is shown. Default: 0. One past the end is a parameter error.
  public var startIndex: Int
  /// Shows every frame for this long instead of its own delay. Default: nil. Must not be negative.
  public var delayTime: Duration?
  /// Plays in total, or `.indefinite`; nil, the default, takes the file's.
  public var loopCount: PlayCount?
  /// How the image is opened and decoded, its limits among it. Default: as files are opened elsewhere.
  public var decoding: DecodingOptions

  /// Options; each argument left out has its default.
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

/// How a call of ``animateImage(at:options:clock:handler:)`` ended. Failures are named after Image I/O's.
public enum AnimationStatus: Sendable, Hashable {
  /// Every play was shown.
  case finished
  /// The handler set `stop`.
  case stopped
  /// The calling task was cancelled.
  case cancelled
  /// An option makes no sense, such as a start index past the end, or the file cannot be read.
  case parameterError
  /// The data breaks its format's rules.
  case corruptInputImage
  /// The data is of no format that is decoded.
  case unsupportedFormat
  /// The data ends before the first frame.
  case incompleteInputImage
  /// A limit on memory would be passed (see ``DecodingLimits``).
  case allocationFailure

  /// The number that Image I/O gives to the status; 0 for the three that are no failures.
  public var code: Int {
    switch self {
    case .finished, .stopped, .cancelled: 0
    case .parameterError: -22140
    case .corruptInputImage: -22141
    case .unsupportedFormat: -22142
    case .incompleteInputImage: -22143
    case .allocationFailure: -22144
    }
  }

  /// The status for an error.
  public init(_ error: AnimatedImageError) {
    self =
      switch error.code {
      case .parameter, .io: .parameterError
      case .notAnImage, .unsupported: .unsupportedFormat
      case .truncated, .noFrames: .incompleteInputImage
      case .limitExceeded: .allocationFailure
      case .cancelled: .cancelled
      default: .corruptInputImage
      }
  }
}
