/// The bytes of one file, read by range from any thread.
package protocol ByteSource: Sendable {
  /// Bytes in all.
  var byteCount: Int { get }

  /// Gives `body` the bytes of `range`, which is clipped to the source.
  ///
  /// - Parameter scratch: Memory to read into, when the bytes do not lie in memory yet. Reused from
  ///   call to call, it spares an allocation.
  func withBytes<Result>(
    in range: Range<Int>, scratch: inout [UInt8],
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result
}
