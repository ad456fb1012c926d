/// Asynchronous random access to the bytes of one file or remote object, such as HTTP range requests, object storage or
/// an archive.
///
/// ```swift
/// struct HTTPRanges: ByteRangeReading {
///   let url: String
///   let byteCount: Int
///   func read(_ range: Range<Int>) async throws -> [UInt8] { try await fetch(url, range) }
/// }
/// ```
///
/// The bytes must not change while they are read. Several reads may run at once. A read is cancelled by cancelling its
/// task.
public protocol ByteRangeReading: Sendable {
  /// The total number of bytes. Constant.
  var byteCount: Int { get }

  /// Returns exactly the bytes of `range`, which is never empty and lies within ``byteCount``.
  ///
  /// May throw any error. The caller receives it with code `io`, or with its own code if it is an
  /// ``AnimatedImageError``, and with the range in its detail. Must not block its thread for long.
  func read(_ range: Range<Int>) async throws -> [UInt8]
}

/// The number of reads from a ``ByteRangeReading`` and of the bytes they requested. Neither ever decreases.
public struct ReadStatistics: Sendable, Hashable {
  /// Reads started, including those that failed or were cancelled.
  public var readCount = 0
  /// Bytes requested by those reads.
  public var byteCount = 0
}
