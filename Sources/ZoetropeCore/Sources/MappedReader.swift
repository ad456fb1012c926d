internal import Synchronization

/// Reads a mapped file front to back, on the caller's thread and one more.
///
/// Nothing is copied: what costs is to wait for memory, and that the system enters each page in the
/// tables of the process and takes it out again. Two threads share that. Each looks at blocks ahead
/// of the caller's, and the caller uses one block after the other with what was seen in it. It waits for
/// nothing: a block that nobody has begun, or that the other thread is not done with when there is no
/// other to look at, it takes as it is. Copying by two threads (`BlockReader`) takes longer.
package final class MappedReader<Sight: Sendable>: Sendable {
  /// Bytes of a block: as many as one page of the system's tables stands for, which two threads cannot
  /// change at once (large files are mapped at multiples of it); some fifty microseconds to look at.
  static var blockSize: Int { 1 << 21 }
  /// Blocks that may be looked at ahead of the caller.
  ///
  /// Pages that were entered and not yet taken out count as memory of the process: 16 to 28 MiB as a
  /// rule, this, the block in use and ``longestTrail``, 38 MiB, when the other thread lags, up to 20 more
  /// while it is held up in the middle of taking them out. On one thread it is 10 MiB.
  static var lead: Int { 8 }
  /// How many blocks are taken out at once: each time interrupts the other processor.
  static var trail: Int { 4 }
  /// How many the caller leaves behind before it takes them out itself, where the other thread should.
  static var longestTrail: Int { 10 }

  private let mapping: FileMapping
  private let look: @Sendable (borrowing RawSpan) -> Sight
  private let state: Mutex<State>
  private let signal = ThreadSignal()

  private init(_ mapping: FileMapping, look: @escaping @Sendable (borrowing RawSpan) -> Sight) {
    self.mapping = mapping
    self.look = look
    state = Mutex(State(blockCount: (mapping.byteCount + Self.blockSize - 1) / Self.blockSize))
  }

  /// Calls `body` with one block after the other until it says that it wants no more.
  ///
  /// - Parameters:
  ///   - look: What a thread does with a block ahead of the caller. The file may change between its
  ///     look and the call of `body`.
  ///   - body: Called on the caller's thread, with what `look` gave for these bytes, or nil.
  package static func forEachBlock(
    of mapping: FileMapping, threadCount: Int,
    lookingAhead look: @escaping @Sendable (borrowing RawSpan) -> Sight,
    _ body: (borrowing RawSpan, Sight?) throws(AnimatedImageError) -> Bool
  ) throws(AnimatedImageError) {
    let reader = MappedReader(mapping, look: look)
    FileMapping.prepareThread()
    let isShared = threadCount > 1 && mapping.byteCount > blockSize
    // Optional: done by this very thread for want of another, it would wait for this one to go on.
    if isShared { DecodeThreads.loading.run(isOptional: true) { reader.help() } }
    defer { reader.stop() }
    try reader.read(trail: isShared ? longestTrail : trail, body)
  }

  private func range(of block: Int) -> Range<Int> {
    block * Self.blockSize..<min((block + 1) * Self.blockSize, mapping.byteCount)
  }

  private func read(
    trail: Int, _ body: (borrowing RawSpan, Sight?) throws(AnimatedImageError) -> Bool
  ) throws(AnimatedImageError) {
    while true {
      let (step, wakes) = state.withLock { ($0.callerStep(trail: trail), $0.takeWakeUp()) }
      if wakes { signal.post() }
      switch step {
      case .take(let block, let sight):
        let goesOn = try mapping.withBytes(in: range(of: block)) {
          (bytes) throws(AnimatedImageError) in try body(bytes, sight)
        }
        guard goesOn, !mapping.hasGap else { return }
      case .look, .release: work(step)
      case .wait, .end: return
      }
    }
  }

  /// What the other thread does, until there are no more blocks or nobody wants them.
  private func help() {
    FileMapping.prepareThread()
    while true {
      let step = state.withLock { $0.helperStep(trail: Self.trail) }
      switch step {
      case .look, .release: work(step)
      case .wait: signal.wait()
      case .take, .end: return
      }
    }
  }

  private func work(_ step: Step) {
    if case .release(let blocks) = step {
      mapping.release(blocks.lowerBound * Self.blockSize..<blocks.upperBound * Self.blockSize)
    } else if case .look(let block) = step {
      let sight = mapping.look(at: range(of: block), look)
      state.withLock { $0.finish(block, sight) }
    }
  }

  private func stop() {
    if state.withLock({ $0.stop() }) { signal.post() }
  }
}
