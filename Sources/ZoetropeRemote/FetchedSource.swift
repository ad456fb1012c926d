internal import Synchronization

/// A byte source over those bytes of a remote file that have been fetched. These bytes are either pinned for one reader
/// or kept in the cache of the file's ``RangeFetcher``.
///
/// Reading bytes that have not been fetched throws `bytesMissing` and records the range that was to be read, instead of
/// blocking a decode thread until the bytes arrive. Each reader has its own source.
package final class FetchedSource: ByteSource {
  private struct Pin {
    let range: Range<Int>
    let bytes: [UInt8]
  }

  private struct State {
    var pins: [Pin] = []
    var missing: Range<Int>?

    func pin(holding range: Range<Int>) -> Pin? {
      pins.first {
        $0.range.lowerBound <= range.lowerBound && range.upperBound <= $0.range.upperBound
      }
    }
  }

  package let fetcher: RangeFetcher
  private let state = Mutex(State())

  package init(_ fetcher: RangeFetcher) { self.fetcher = fetcher }

  deinit { fetcher.notePinned(-pinnedByteCount) }

  package var byteCount: Int { fetcher.byteCount }

  package var residentByteCount: Int { 0 }

  package var currentStamp: FileStamp? { nil }

  package var isUnchanged: Bool { true }

  package func isAtHand(_ range: Range<Int>) -> Bool {
    let clipped = range.clamped(to: 0..<byteCount)
    return state.withLock { $0.pin(holding: clipped) } != nil
      || fetcher.cache.missing(in: clipped).isEmpty
  }

  /// Keeps `bytes`, which begin at offset `start` of the file, until ``unpin(outside:)`` removes them.
  package func pin(_ bytes: [UInt8], at start: Int) {
    state.withLock { $0.pins.append(Pin(range: start..<start + bytes.count, bytes: bytes)) }
    fetcher.notePinned(bytes.count)
  }

  /// Unpins all pinned pieces that do not overlap `range`.
  package func unpin(outside range: Range<Int>) {
    let dropped = state.withLock { state in
      let dropped = state.pins.filter { !$0.range.overlaps(range) }
      if !dropped.isEmpty { state.pins.removeAll { !$0.range.overlaps(range) } }
      return dropped
    }
    fetcher.notePinned(-dropped.reduce(0) { $0 + $1.bytes.count })
  }

  /// The number of pinned bytes.
  package var pinnedByteCount: Int {
    state.withLock { $0.pins.reduce(0) { $0 + $1.bytes.count } }
  }

  /// Returns and clears the range of the last read that failed because bytes were missing. Returns nil if no read has
  /// failed since the last call.
  package func takeMissing() -> Range<Int>? { state.withLock { $0.missing.take() } }

  package func withBytes<Result>(
    in range: Range<Int>, buffer: inout ReadBuffer,
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result {
    let clipped = range.clamped(to: 0..<byteCount)
    if let pin = state.withLock({ $0.pin(holding: clipped) }) {
      let start = clipped.lowerBound - pin.range.lowerBound
      return try body(pin.bytes.rawBytes.extracting(start..<start + clipped.count))
    }
    if let kept = fetcher.cache.data(for: clipped) { return try body(kept.rawBytes) }
    state.withLock { $0.missing = clipped }
    throw AnimatedImageError(
      .bytesMissing, "bytes \(clipped) have not been fetched", byteOffset: clipped.lowerBound)
  }
}
