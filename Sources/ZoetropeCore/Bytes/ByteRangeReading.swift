/// Random access to the bytes of one file or remote object, which may take a while: HTTP range requests, object
/// storage, an archive.
///
/// ```swift
/// struct HTTPRanges: ByteRangeReading {
///   let url: String
///   let byteCount: Int
///   func read(_ range: Range<Int>) async throws -> [UInt8] { try await fetch(url, range) }
/// }
/// ```
///
/// The bytes must not change while they are read. Several reads may run at once, and a read is cancelled by
/// cancelling its task.
public protocol ByteRangeReading: Sendable {
  /// The total number of bytes. Constant.
  var byteCount: Int { get }

  /// Returns exactly the bytes of `range`, which is never empty and lies within ``byteCount``.
  ///
  /// Throw any error; the caller gets it as `io` (an ``AnimatedImageError`` keeps its code) with the range in
  /// its detail. Must not block its thread for long.
  func read(_ range: Range<Int>) async throws -> [UInt8]
}

/// How much was read of a ``ByteRangeReading``. No number ever goes down.
public struct ReadStatistics: Sendable, Hashable {
  /// Reads started, including those that failed or were cancelled.
  public var readCount = 0
  /// Bytes requested by them.
  public var byteCount = 0
}
