internal import Synchronization

/// Reads a mapped file front to back, on the caller's thread and one more.
///
/// The bytes are looked at by the caller alone, one in 256 of a GIF. What costs more is that the
/// system enters each page in the tables of the process, and takes it out again: the other thread does
/// both, some way ahead and behind. The caller waits for nothing; where it comes first it does that
/// work itself. Copying by two threads (`BlockReader`) takes longer.
final class MappedReader: Sendable {
  struct State {
    /// Where the caller is, and how far pages were entered and taken out.
    var position = 0
    var touched = 0
    var released = 0
    var isHelperWaiting = false
    var isStopped = false
  }

  /// What the other thread does next.
  enum Step: Equatable {
    case touch(Range<Int>)
    case release(Range<Int>)
    case wait
    case end
  }

  /// How much the caller looks at between two words to the other thread.
  static let blockSize = 1 << 20
  /// How far pages are entered ahead of the caller.
  ///
  /// Pages that are entered and not yet taken out count as memory of the process: 16 to 24 MiB as a
  /// rule, this and ``longestTrail`` when the other thread lags, some more while it is held up in the
  /// middle of taking them out. On one thread it is ``trail``.
  static let lead = 16 << 20
  /// How much is taken out at once: each time interrupts the other processor.
  static let trail = 8 << 20
  /// How much the caller leaves behind before it takes pages out itself.
  static let longestTrail = 20 << 20

  private let mapping: FileMapping
  private let state = Mutex(State())
  private let signal = ThreadSignal()

  private init(_ mapping: FileMapping) { self.mapping = mapping }

  /// Calls `body` with one block after the other until it says that it wants no more.
  static func forEachBlock(
    of mapping: FileMapping, threadCount: Int,
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Bool
  ) throws(AnimatedImageError) {
    let reader = MappedReader(mapping)
    FileMapping.prepareThread()
    // Optional: done by this very thread for want of another, it would wait for this one to go on.
    if threadCount > 1 { DecodeThreads.shared.run(isOptional: true) { reader.help() } }
    defer { reader.stop() }
    for start in stride(from: 0, to: mapping.byteCount, by: blockSize) {
      reader.advance(to: start, trail: threadCount > 1 ? longestTrail : trail)
      let block = start..<min(start + blockSize, mapping.byteCount)
      guard try mapping.withBytes(in: block, body), !mapping.hasGap else { return }
    }
  }

  private func advance(to position: Int, trail: Int) {
    let (wakes, range) = state.withLock { state in
      state.position = position
      return (state.takeWakeUp(), state.takeTrail(ofAtLeast: trail))
    }
    if wakes { signal.post() }
    if let range { mapping.release(range) }
  }

  /// What the other thread does, until the last page is entered or nobody wants more.
  private func help() {
    FileMapping.prepareThread()
    while true {
      switch state.withLock({ $0.step(byteCount: mapping.byteCount) }) {
      case .touch(let range): mapping.touch(range)
      case .release(let range): mapping.release(range)
      case .wait: signal.wait()
      case .end: return
      }
    }
  }

  private func stop() {
    if state.withLock({ $0.stop() }) { signal.post() }
  }
}
