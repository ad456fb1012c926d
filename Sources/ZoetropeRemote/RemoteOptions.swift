/// Options for reading the bytes of a ``RemoteImage``.
public struct RemoteOptions: Sendable, Hashable {
  /// The maximum number of the file's bytes that are kept in memory. Default: 64 MiB.
  public var byteLimit: Int
  /// The number of bytes read ahead of the playhead when frames are read in order, or 0 to read nothing ahead. Values
  /// above half of ``byteLimit`` are clamped. Default: 1 MiB.
  public var readAheadByteCount: Int
  /// Two ranges are fetched in one request, together with the gap between them, if the gap is shorter than this number
  /// of bytes. Reading a gap is faster than a second request if the gap is smaller than latency times bandwidth.
  /// Default: 512 KiB, which suits a latency of 40 ms at 100 Mbit/s.
  public var gapByteLimit: Int

  /// Creates options; omitted arguments take their defaults.
  public init(
    byteLimit: Int = 64 << 20, readAheadByteCount: Int = 1 << 20,
    gapByteLimit: Int = 1 << 19
  ) {
    self.byteLimit = byteLimit
    self.readAheadByteCount = readAheadByteCount
    self.gapByteLimit = gapByteLimit
  }

  /// ``readAheadByteCount``, clamped to the range from 0 to half of ``byteLimit``.
  var readAheadCount: Int { max(min(readAheadByteCount, byteLimit / 2), 0) }
}
