/// A source of bytes with asynchronous random access, for example a server that supports HTTP range requests, an object
/// in an object store, or a file in an archive.
///
/// ```swift
/// struct HTTPRanges: ByteRangeReading {
///   let url: String
///   let byteCount: Int
///   func read(_ range: Range<Int>) async throws -> [UInt8] { try await fetch(url, range) }
/// }
/// ```
///
/// The bytes must not change from one read to the next. Several reads may run concurrently. To cancel a read, the
/// library cancels the task in which the read runs.
public protocol ByteRangeReading: Sendable {
  /// The total number of bytes, which must not change.
  var byteCount: Int { get }

  /// Returns exactly the bytes of `range`. The range is never empty and never reaches past ``byteCount``.
  ///
  /// This method may throw any error. The library then throws an ``AnimatedImageError`` whose detail contains the
  /// range. If this method throws an ``AnimatedImageError`` with a code other than
  /// ``AnimatedImageError/Code/cancelled``, the library's error has the same code; otherwise, the code is `io`.
  ///
  /// This method must not block its thread for long.
  func read(_ range: Range<Int>) async throws -> [UInt8]
}

/// The number of reads from a ``ByteRangeReading``, and the number of bytes that these reads requested. Neither number
/// ever decreases.
public struct ReadStatistics: Sendable, Hashable {
  /// The number of reads started, including reads that failed or were cancelled.
  public var readCount = 0
  /// The number of bytes requested by the reads that ``readCount`` counts.
  public var byteCount = 0
}
