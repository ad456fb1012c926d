internal import SystemPackage
package import Zoetrope

/// How much of an input is read before it is used.
package enum InputReading: Sendable, Hashable {
  /// All bytes are read before the input is used.
  case whole
  /// Pipes, devices and standard input are used while their bytes arrive; files are read whole.
  case arriving
  /// All inputs are used while their bytes arrive, including a file that another program is still writing.
  case following

  /// Returns whether `input` is used while its bytes arrive.
  package func isStream(_ input: InputFile) -> Bool {
    switch self {
    case .whole: false
    case .arriving: input.isReadOnce
    case .following: true
    }
  }
}

/// An opened input: a whole image, or a stream, which is an image whose bytes are still arriving.
package enum OpenedInput: Sendable {
  case whole(AnimatedImage)
  case stream(StreamedImage)

  /// The stream, or nil for a whole image.
  package var stream: StreamedImage? {
    if case .stream(let image) = self { image } else { nil }
  }

  /// The image, with the frames that have arrived so far. Nil for a stream whose first frame has not arrived.
  package var image: AnimatedImage? {
    switch self {
    case .whole(let image): image
    case .stream(let image): image.image
    }
  }

  private var source: any AnimationSource {
    switch self {
    case .whole(let image): image
    case .stream(let image): image
    }
  }

  /// The frames that have arrived so far.
  package var frames: [FrameControl] { source.frames }
  package var format: AnimationFormat { source.format }
  package var canvasSize: PixelSize { source.canvasSize }
  /// The play count. For a stream, the play count according to the bytes that have arrived.
  package var playCount: PlayCount { source.playCount }
}

extension InputFile {
  /// Opens the input, and reads it as `reading` specifies; see ``open(_:knownTo:isAbandoned:)``. For a stream, returns
  /// when its canvas is known.
  package func open(
    _ options: DecodingOptions, reading: InputReading, knownTo store: FrameStore? = nil,
    isAbandoned: () -> Bool = { false }
  ) throws(CommandFailure) -> OpenedInput {
    guard reading.isStream(self) else {
      return .whole(try open(options, knownTo: store, isAbandoned: isAbandoned))
    }
    return .stream(
      try openStream(options, isFollowed: reading == .following, isAbandoned: isAbandoned))
  }

  /// Opens the input as a stream. Returns when the canvas is known.
  ///
  /// The bytes count against the memory limit, as they do when a pipe is read whole, although most of them are kept in
  /// a file.
  ///
  /// - Parameters:
  ///   - isFollowed: Whether to read a file past its current end until the animation is complete.
  ///   - patience: How long a followed file may stay unchanged, or a pipe without data, before it counts as complete.
  ///     Default: nil, which means forever.
  ///   - isAbandoned: A closure that is called ten times a second until the canvas is known. It returns true to give
  ///     up.
  package func openStream(
    _ options: DecodingOptions, isFollowed: Bool, patience: Duration? = nil,
    isAbandoned: () -> Bool = { false }
  ) throws(CommandFailure) -> StreamedImage {
    let opened = Monitor<Result<StreamedImage, AnimatedImageError>?>(nil)
    let task = Task { [self] in
      let result = await stream(options, isFollowed: isFollowed, patience)
      opened.update { $0 = result }
    }
    var result: Result<StreamedImage, AnimatedImageError>?
    while result == nil {
      result = opened.wait(until: ContinuousClock.now + .milliseconds(100)) { $0 }
      if result == nil, isAbandoned() || Signals.ending != nil { task.cancel() }
    }
    do throws(AnimatedImageError) {
      guard let image = try result?.get() else {
        throw AnimatedImageError(.cancelled, "opening was stopped")
      }
      return image
    } catch {
      if let failure = CommandFailure.interruption(file: name) { throw failure }
      throw CommandFailure(error, file: name, damage: options.damage)
    }
  }

  /// Waits until the file is complete, then opens it. For `patience`, see
  /// ``openStream(_:isFollowed:patience:isAbandoned:)``.
  package func openFollowed(
    _ options: DecodingOptions, patience: Duration?
  ) throws(CommandFailure) -> AnimatedImage {
    let stream = try openStream(options, isFollowed: true, patience: patience)
    let ending = BlockingTask.run { await stream.waitUntilEnded() }
    if let error = ending?.error { throw CommandFailure(error, file: name, damage: options.damage) }
    guard let image = stream.image else {
      throw CommandFailure(
        AnimatedImageError(.noFrames, "no frame has arrived"), file: name, damage: options.damage)
    }
    return image
  }

  private func stream(
    _ options: DecodingOptions, isFollowed: Bool, _ patience: Duration?
  ) async -> Result<StreamedImage, AnimatedImageError> {
    do throws(AnimatedImageError) {
      let chunks = try InputChunks(self, isFollowed: isFollowed, patience)
      return .success(
        try await StreamedImage(
          chunks, options: options, storage: StreamStorage(byteLimit: options.limits.liveBytes)))
    } catch {
      return .failure(error)
    }
  }
}
