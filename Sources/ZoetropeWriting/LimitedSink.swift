internal import Synchronization

/// A sink that keeps the file in memory. If the file becomes longer than a limit, the sink drops the file and only
/// counts its bytes. Above a second limit, the sink fails.
final class LimitedSink: AnimationSink {
  private struct State {
    var bytes: [UInt8] = []
    var byteCount = 0
    var isTooLong = false
  }
  private let state = Mutex(State())
  private let limit: Int
  private let failureLimit: Int

  /// Creates a sink that keeps up to `limit` bytes.
  ///
  /// - Parameter failureLimit: The number of bytes above which the sink fails. Default: nil, which means `limit`.
  init(_ limit: Int, failsAbove failureLimit: Int? = nil) {
    (self.limit, self.failureLimit) = (limit, failureLimit ?? limit)
  }

  /// The bytes of the file, or none if it is too long to be kept.
  var bytes: [UInt8] { state.withLock { $0.bytes } }
  var byteCount: Int { state.withLock { $0.byteCount } }
  var isTooLong: Bool { state.withLock { $0.isTooLong } }
  var canPatch: Bool { true }

  func write(_ bytes: [UInt8]) throws(AnimatedImageError) {
    let fits = try state.withLock { (state) throws(AnimatedImageError) in
      state.byteCount += bytes.count
      if state.byteCount > limit {
        (state.isTooLong, state.bytes) = (true, [])
      } else {
        try state.bytes.makeRoom(adding: bytes.count)
        state.bytes += bytes
      }
      return state.byteCount <= failureLimit
    }
    guard fits else {
      throw AnimatedImageError(
        .unwritable, "the output would have more than \(failureLimit) bytes")
    }
  }

  func patch(_ bytes: [UInt8], at offset: Int) {
    state.withLock {
      if !$0.isTooLong { $0.bytes.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
    }
  }

  func finish() {}
  func abandon() { state.withLock { $0.bytes = [] } }
}

/// A complete file in memory.
struct EncodedFile: Sendable {
  var bytes: [UInt8]
  var written: WrittenAnimation

  /// Writes the file to `sink`, in pieces. The sink is finished if writing succeeds, and abandoned if this method
  /// throws.
  func write(
    to sink: some AnimationSink, isCancelled: @escaping @Sendable () -> Bool,
    attempt: Int = 1, progress: (WritingProgress) -> Void
  ) throws(AnimatedImageError) -> WrittenAnimation {
    sink.observe(isCancelled)
    try sink.orAbandon { () throws(AnimatedImageError) in
      for start in stride(from: 0, to: bytes.count, by: 1 << 18) {
        if isCancelled() { throw EncodingQueue.cancelled }
        let end = min(start + 1 << 18, bytes.count)
        try sink.makeRoom(for: end - start)
        try sink.write(Array(bytes[start..<end]))
        progress(
          WritingProgress(
            frameCount: written.frameCount * end / bytes.count,
            totalFrameCount: written.frameCount, byteCount: end, attempt: attempt))
      }
    }
    try sink.finish()
    return written
  }
}
