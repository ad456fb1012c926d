internal import Synchronization

extension FrameStore {
  /// Stores frames of `image` before they are needed, in one decode pass for all `renderings`.
  ///
  /// Frames are decoded on the library's own threads. Frames that are already stored are skipped, and concurrent calls
  /// for one image take turns, so no frame is decoded twice. If the calling task is cancelled, the frames stored so far
  /// stay in the store. (Playback needs no prefetching: it looks up frames, or decodes and stores them, up to
  /// ``PlaybackOptions/decodeAhead`` frames ahead.)
  ///
  /// - Parameters:
  ///   - indices: The indices of the frames to store, in any order. Default: nil, which means all frames.
  ///   - image: The image whose frames are stored.
  ///   - renderings: The sizes and formats of the frames. For a ``FrameFormat``, pass its ``FrameFormat/rendering``.
  /// - Returns: The number of frames stored, counted separately for each rendering.
  /// - Throws: `parameter` if a frame does not exist; `storeFull` if some of the frames were evicted to make room for
  ///   other frames, because the store's limit, a format's `maximumCount` or the maximum of 8,192 frames of one size
  ///   and format is too small (the frames that were not evicted stay stored); the errors of ``store(_:for:)`` and of
  ///   ``AnimationSource/bitmap(at:rendering:cache:)``; `cancelled` if the task is cancelled, but never
  ///   `CancellationError`.
  @discardableResult
  public func prefetch(
    _ indices: [Int]? = nil, of image: AnimatedImage, renderings: [Rendering]
  ) async throws(AnimatedImageError) -> Int {
    let indices = indices ?? Array(image.frames.indices)
    if let wrong = indices.first(where: { !image.frames.indices.contains($0) }) {
      throw .noFrame(wrong, of: image.frames.count, format: image.format)
    }
    let content = try await image.state.lookupThreads.value {
      [self] flag throws(AnimatedImageError) in
      try identity(of: image) { flag.isRaised }
    }
    guard await passes.begin(content) else {
      throw AnimatedImageError(.cancelled, "stopped before decoding", format: image.format)
    }
    defer { passes.end(content) }
    let pass = PrefetchPass(image, FrameFiller(self, renderings, of: image, content))
    var count = 0
    for index in indices {
      count += try await DecodeThreads.loading.value { flag throws(AnimatedImageError) in
        try pass.fill(index) { flag.isRaised }
      }
    }
    try await DecodeThreads.loading.value { _ throws(AnimatedImageError) in
      try pass.checkKept(indices)
    }
    return count
  }

  /// Like ``prefetch(_:of:renderings:)``, but stores all frames, decodes on the calling thread, and does not wait for
  /// other prefetches of the same image.
  package func prefetch(
    of image: AnimatedImage, renderings: [Rendering], isCancelled: @Sendable () -> Bool
  ) throws(AnimatedImageError) -> Int {
    let content = try identity(of: image, isCancelled: isCancelled)
    let pass = PrefetchPass(image, FrameFiller(self, renderings, of: image, content))
    var count = 0
    for index in image.frames.indices { count += try pass.fill(index, isCancelled: isCancelled) }
    try pass.checkKept(Array(image.frames.indices))
    return count
  }

  /// Stores frames of `image` in all formats of the store that belong to `family`. See
  /// ``prefetch(_:of:renderings:)``.
  ///
  /// - Throws: The errors of ``prefetch(_:of:renderings:)``; also `parameter` if no format of the store has this
  ///   family.
  @discardableResult
  public func prefetch(
    _ indices: [Int]? = nil, of image: AnimatedImage, family: String
  ) async throws(AnimatedImageError) -> Int {
    let members = formats.filter { $0.family == family }
    if members.isEmpty {
      throw AnimatedImageError(
        .parameter, "no format of the store has the family \"\(family)\"", format: image.format)
    }
    return try await prefetch(indices, of: image, renderings: members.map(\.rendering))
  }
}

/// One prefetch of an image. A single reader decodes all its frames, so that decoding can continue from one frame to
/// the next.
private final class PrefetchPass: Sendable {
  private struct State {
    let reader: SeekingReader
    var filler: FrameFiller
    var next = 0
  }

  private let image: AnimatedImage
  // Only one thread at a time uses the state. The lock proves that to the compiler.
  private let state: Mutex<State>

  init(_ image: AnimatedImage, _ filler: FrameFiller) {
    self.image = image
    let reader = SeekingReader(image, keepsCheckpoints: false)
    state = Mutex(State(reader: reader, filler: filler))
  }

  /// Stores frame `index` in every format in which the store lacks the frame, and returns the number of these formats.
  func fill(
    _ index: Int, isCancelled: @Sendable () -> Bool
  ) throws(AnimatedImageError) -> Int {
    try state.withLock { (state) throws(AnimatedImageError) in
      if state.filler.isComplete(at: index) { return 0 }
      state.reader.isFollowingOrder = index == state.next
      state.next = index + 1
      let frame = try state.reader.frame(at: index, isCancelled: isCancelled)
      // If the file has been overwritten, the pixels do not match the content identity in the key.
      guard image.source.isUnchanged else {
        throw AnimatedImageError(.io, "the file changed after it was opened", format: image.format)
      }
      return try state.filler.fill(frame, isCancelled: isCancelled)
    }
  }
}

extension PrefetchPass {
  /// Throws `storeFull` if any of the frames `indices`, all of which were stored, is no longer in the store.
  func checkKept(_ indices: [Int]) throws(AnimatedImageError) {
    let kept = state.withLock { state in indices.count { state.filler.isComplete(at: $0) } }
    guard kept < indices.count else { return }
    throw AnimatedImageError(
      .storeFull,
      "only \(kept) of \(indices.count) frames are still in the store: its byte limit is too "
        + "small, or it cannot keep more frames of one size and format",
      format: image.format)
  }
}

/// The images that are being prefetched. A second prefetch of an image waits until the first one has ended.
final class StorePasses: Sendable {
  private let waiters = Mutex<[ContentIdentity: [ResultHandover<Void>]]>([:])

  /// Begins a prefetch of the image with this content, after waiting for any other prefetch of the image to end.
  /// Returns false if the calling task was cancelled first.
  func begin(_ content: ContentIdentity) async -> Bool {
    while !Task.isCancelled {
      let waiter = ResultHandover<Void>()
      let isFree = waiters.withLock { waiters in
        guard waiters[content] != nil else {
          waiters[content] = []
          return true
        }
        waiters[content]?.append(waiter)
        return false
      }
      if isFree { return true }
      let remove: @Sendable () -> Void = { [self] in
        waiters.withLock { $0[content]?.removeAll { $0 === waiter } }
      }
      guard await waiter.valueUnlessCancelled(remove) != nil else { return false }
    }
    return false
  }

  /// Ends a prefetch that was begun with ``begin(_:)``.
  func end(_ content: ContentIdentity) {
    let waiting = waiters.withLock { $0.removeValue(forKey: content) ?? [] }
    for waiter in waiting { waiter.close(with: ()) }
  }

  /// The number of prefetches that are waiting for another one to end.
  var waitingCount: Int { waiters.withLock { $0.values.reduce(0) { $0 + $1.count } } }
}
