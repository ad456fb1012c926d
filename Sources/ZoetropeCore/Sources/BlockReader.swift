internal import Synchronization

/// Reads a file front to back in blocks, on the caller's thread and, for large files, one more.
///
/// Copying out of the system's file cache is nearly all that a scan of a GIF costs, and one core does
/// not use all of the memory's bandwidth: two take half the time. `MappedReader` is faster still and
/// needs a handler for a signal, which only a process can decide about.
package final class BlockReader: Sendable {
  /// What became of one block.
  enum Slot {
    case claimed
    case done(bytes: [UInt8], count: Int)
    case failed(AnimatedImageError)
  }

  struct State {
    /// Slots of the blocks from `base` on.
    var slots: [Slot] = []
    var base = 0
    var spares: [[UInt8]] = []
    var isCallerWaiting = false
    var isHelperWaiting = false
    var isStopped = false
  }

  /// What a thread does next.
  enum Step {
    case give(bytes: [UInt8], count: Int)
    case fail(AnimatedImageError)
    case read(block: Int, into: [UInt8])
    case wait
    case end
  }

  /// Large enough that a call costs little, small enough that four lie in a second-level cache.
  static let blockSize = 1 << 17
  /// Blocks that are read and not taken.
  static let window = 4
  /// Below this, a thread takes longer to start than it would save.
  static let leastSharedSize = 1 << 21

  private let source: any ByteSource
  private let blockCount: Int
  private let state = Mutex(State())
  private let callerSignal = ThreadSignal()
  private let helperSignal = ThreadSignal()

  private init(_ source: any ByteSource) {
    self.source = source
    blockCount = (source.byteCount + Self.blockSize - 1) / Self.blockSize
  }

  /// Calls `body` with one block after the other until it says that it wants no more.
  ///
  /// - Parameter threadCount: Threads that may be used, the caller's included. Asked for large files
  ///   only, since counting processors takes the system longer than reading a small one.
  package static func forEachBlock(
    of source: any ByteSource, threadCount: @autoclosure () -> Int,
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Bool
  ) throws(AnimatedImageError) {
    let reader = BlockReader(source)
    let isShared = source is FileSource && source.byteCount >= leastSharedSize && threadCount() > 1
    guard isShared else { return try reader.readAlone(body) }
    DecodeThreads.loading.run(isOptional: true) { reader.help() }
    defer { reader.stop() }
    try reader.readShared(body)
  }

  private func range(of block: Int) -> Range<Int> {
    let start = block * Self.blockSize
    return start..<min(start + Self.blockSize, source.byteCount)
  }

  private func readAlone(
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Bool
  ) throws(AnimatedImageError) {
    var scratch: [UInt8] = []
    for block in 0..<blockCount {
      let range = range(of: block)
      let goesOn = try source.withBytes(in: range, scratch: &scratch) {
        (bytes) throws(AnimatedImageError) in
        // Fewer bytes than there were: the file was cut short meanwhile, and this is its end.
        try body(bytes) && bytes.byteCount == range.count
      }
      guard goesOn else { return }
    }
  }

  /// Takes the blocks in order, and reads the ones that nobody has begun while it would wait.
  private func readShared(
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Bool
  ) throws(AnimatedImageError) {
    var block = 0
    while block < blockCount {
      switch state.withLock({ $0.callerStep(blockCount: blockCount) }) {
      case .give(let bytes, let count):
        // At most `bytes.count`, as `read` promises.
        let goesOn = try unsafe body(bytes.span.bytes.extracting(first: count))
        guard goesOn, count == range(of: block).count else { return }
        if state.withLock({ $0.takeBack(bytes) }) { helperSignal.post() }
        block += 1
      case .fail(let error): throw error
      case .read(let block, let bytes): finish(block, read(block, into: bytes))
      case .wait: callerSignal.wait()
      case .end: return
      }
    }
  }

  /// What the other thread does, until there are no more blocks or nobody wants them.
  private func help() {
    while true {
      switch state.withLock({ $0.helperStep(blockCount: blockCount) }) {
      case .read(let block, let bytes): finish(block, read(block, into: bytes))
      case .wait: helperSignal.wait()
      default: return
      }
    }
  }

  private func stop() {
    let wakes = state.withLock { state in
      state.isStopped = true
      return state.isHelperWaiting
    }
    if wakes { helperSignal.post() }
  }

  private func read(_ block: Int, into bytes: consuming [UInt8]) -> Slot {
    do {
      let count = try source.withBytes(in: range(of: block), scratch: &bytes) { $0.byteCount }
      return .done(bytes: bytes, count: count)
    } catch {
      return .failed(error)
    }
  }

  private func finish(_ block: Int, _ slot: Slot) {
    if state.withLock({ $0.finish(block, slot) }) { callerSignal.post() }
  }
}
