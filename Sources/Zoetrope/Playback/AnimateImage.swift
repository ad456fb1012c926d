public import SystemPackage

/// Plays the animation in the file at `path`: calls `handler` with each frame at its time.
///
/// The counterpart of `CGAnimateImageAtURLWithBlock`, with two differences: it returns when the
/// animation is over, and its handler runs where the caller runs. Delays follow
/// ``DelayPolicy/imageIO`` unless ``AnimationOptions/delayTime`` is set. A still picture is passed
/// once and held for its delay. The handler gets every frame of every play once, in order; if it takes
/// longer than its frame lasts, it delays the following frames, which keep their own durations. The
/// file is read and decoded on the library's own threads.
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
  do throws(AnimatedImageError) {
    let image = try await AnimatedImage.open(path, options: options.decoding)
    return await animate(
      SharedFrames(image, keeping: 0), options: options, clock: clock, handler: handler)
  } catch { return AnimationStatus(error) }
}

/// Plays an animation in memory: calls `handler` with each frame at its time.
///
/// As ``animateImage(at:options:clock:handler:)``.
public func animateImage(
  bytes: [UInt8], options: AnimationOptions = .init(),
  clock: some Clock<Duration> = ContinuousClock(),
  handler: (_ index: Int, _ bitmap: Bitmap, _ stop: inout Bool) -> Void
) async -> AnimationStatus {
  do throws(AnimatedImageError) {
    let image = try await AnimatedImage.open(bytes: bytes, options: options.decoding)
    return await animate(
      SharedFrames(image, keeping: 0), options: options, clock: clock, handler: handler)
  } catch { return AnimationStatus(error) }
}

/// Plays the frames of an opened image.
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
  for await frame in scheduler.frames().stream {
    var stop = false
    handler(frame.index, frame.bitmap, &stop)
    if stop { scheduler.stop() }
  }
  let state = scheduler.state
  if let error = state.error { return AnimationStatus(error) }
  return state == .finished ? .finished : state == .stopped ? .stopped : .cancelled
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
///
/// Not an enum, so that a later release may add a status: end a `switch` over it with `default`.
public struct AnimationStatus: Sendable, Hashable {
  private let name: String
  /// The number that Image I/O gives to the status; 0 for the three that are not failures.
  public let code: Int

  /// Every play was shown.
  public static let finished = AnimationStatus(name: "finished", code: 0)
  /// The handler set `stop`.
  public static let stopped = AnimationStatus(name: "stopped", code: 0)
  /// The calling task was cancelled.
  public static let cancelled = AnimationStatus(name: "cancelled", code: 0)
  /// An option is invalid, such as a start index past the end, or the file cannot be read.
  public static let parameterError = AnimationStatus(name: "parameterError", code: -22140)
  /// The data breaks its format's rules.
  public static let corruptInputImage = AnimationStatus(name: "corruptInputImage", code: -22141)
  /// The data is of no supported format.
  public static let unsupportedFormat = AnimationStatus(name: "unsupportedFormat", code: -22142)
  /// The data ends before the first frame.
  public static let incompleteInputImage = AnimationStatus(
    name: "incompleteInputImage", code: -22143)
  /// A memory limit was exceeded (see ``DecodingLimits``).
  public static let allocationFailure = AnimationStatus(name: "allocationFailure", code: -22144)

  private init(name: String, code: Int) {
    self.name = name
    self.code = code
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

extension AnimationStatus: CustomStringConvertible {
  /// The status's name.
  public var description: String { name }
}
