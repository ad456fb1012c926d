internal import Synchronization

/// The memory that all readers together hold for frames decoded ahead, and for reuse.
///
/// Each reader bounds its own window by its image's limits, but hundreds of concurrent readers would still hold
/// gigabytes. At this limit a reader decodes no frame before it is requested, which costs the second core,
/// until others have returned theirs. A requested frame is always decoded.
package final class DecodeMemory: Sendable {
  let byteLimit: Int
  private let used = Atomic<Int>(0)

  package init(byteLimit: Int) { self.byteLimit = byteLimit }

  /// The bytes charged now.
  var usedBytes: Int { used.load(ordering: .relaxed) }

  /// Whether there is room for `byteCount` bytes more.
  func admits(_ byteCount: Int) -> Bool { usedBytes + byteCount <= byteLimit }

  /// Charges `byteCount` more bytes if there is room for them; false if there is none.
  package func reserve(_ byteCount: Int) -> Bool {
    var current = usedBytes
    while current + byteCount <= byteLimit {
      let result = used.weakCompareExchange(
        expected: current, desired: current + byteCount, ordering: .relaxed)
      if result.exchanged { return true }
      current = result.original
    }
    return false
  }

  /// Charges `byteCount` more bytes, or returns them if negative.
  package func charge(_ byteCount: Int) {
    if byteCount != 0 { used.add(byteCount, ordering: .relaxed) }
  }
}
