internal import Synchronization

/// A budget for the memory that all readers together use for frames decoded ahead and for spare blocks.
///
/// Each reader bounds its own window by its image's limits, but hundreds of concurrent readers would still use
/// gigabytes together. Once ``byteLimit`` is reached, and until other readers release memory, readers decode each frame
/// only when it is requested, and therefore do not use a second core. A requested frame is always decoded.
package final class DecodeMemory: Sendable {
  let byteLimit: Int
  private let used = Atomic<Int>(0)

  package init(byteLimit: Int) { self.byteLimit = byteLimit }

  /// The number of bytes currently charged.
  var usedBytes: Int { used.load(ordering: .relaxed) }

  /// Returns whether there is room for `byteCount` more bytes.
  func admits(_ byteCount: Int) -> Bool { usedBytes + byteCount <= byteLimit }

  /// Charges `byteCount` more bytes if there is room for them. Returns false if there is not.
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

  /// Charges `byteCount` more bytes, or releases bytes if `byteCount` is negative.
  package func charge(_ byteCount: Int) {
    if byteCount != 0 { used.add(byteCount, ordering: .relaxed) }
  }
}
