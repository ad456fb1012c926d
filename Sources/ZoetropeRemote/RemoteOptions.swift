/// How the bytes of a ``RemoteImage`` are read.
public struct RemoteOptions: Sendable, Hashable {
  /// The most bytes kept in memory. Default: 64 MiB.
  public var byteLimit: Int
  /// How many bytes are read ahead of the playhead when frames are read in order; 0 for none. At most half of
  /// ``byteLimit`` is used. Default: 1 MiB.
  public var readAheadByteCount: Int
  /// The largest gap, in bytes, between two ranges that are still fetched in one request. Reading a gap is cheaper than
  /// a second request if it is smaller than latency times bandwidth. Default: 512 KiB, right for 40 ms at 100 Mbit/s.
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

  /// ``readAheadByteCount``, within bounds.
  var readAheadCount: Int { max(min(readAheadByteCount, byteLimit / 2), 0) }
}
