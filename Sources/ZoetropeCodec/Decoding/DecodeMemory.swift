internal import Synchronization

/// Bytes that frames decoded ahead take together, whoever reads them, and memory kept for frames to come.
///
/// Each reader bounds its own window by the limits of its image; hundreds of readers at once held
/// gigabytes all the same. At the limit, a reader decodes no frame before it is asked for, which costs
/// the second core, until others have given theirs back. The frame that is asked for is always decoded.
package final class DecodeMemory: Sendable {
  let byteLimit: Int
  private let used = Atomic<Int>(0)

  package init(byteLimit: Int) { self.byteLimit = byteLimit }

  /// Bytes taken now.
  var usedBytes: Int { used.load(ordering: .relaxed) }

  /// Whether there is room for `byteCount` bytes more.
  func admits(_ byteCount: Int) -> Bool { usedBytes + byteCount <= byteLimit }

  /// Takes `byteCount` bytes more, or gives as many back when it is negative.
  func charge(_ byteCount: Int) {
    if byteCount != 0 { used.add(byteCount, ordering: .relaxed) }
  }
}
