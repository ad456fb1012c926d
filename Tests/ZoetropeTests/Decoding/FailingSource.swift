import Synchronization

@testable import Zoetrope

/// Bytes whose n-th read fails, once.
final class FailingSource: ByteSource {
  private let memory: MemorySource
  /// Reads until one fails; none does when it is negative.
  private let countdown = Atomic<Int>(-1)

  init(_ bytes: [UInt8]) { memory = MemorySource(bytes) }

  /// Has the read fail that comes after `count` more.
  func failAfter(_ count: Int) { countdown.store(count, ordering: .relaxed) }

  var byteCount: Int { memory.byteCount }
  var currentStamp: FileStamp? { nil }
  var isUnchanged: Bool { true }

  func withBytes<Result>(
    in range: Range<Int>, scratch: inout [UInt8],
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result {
    if countdown.subtract(1, ordering: .relaxed).oldValue == 0 {
      throw AnimatedImageError(.io, "this read fails")
    }
    return try memory.withBytes(in: range, scratch: &scratch, body)
  }
}
