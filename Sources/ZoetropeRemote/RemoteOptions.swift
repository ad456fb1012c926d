/// How the bytes of a ``RemoteImage`` are read.
public struct RemoteOptions: Sendable, Hashable {
  /// The most bytes kept in memory. Default: 64 MiB.
  public var cacheByteLimit: Int
  /// How many bytes are read ahead of the playhead when frames are taken in order; 0 for none. At most half of
  /// ``cacheByteLimit`` is. Default: 1 MiB.
  public var readAhead: Int
  /// Bytes that may as well be read as skipped, because another request costs as much: about latency times
  /// bandwidth. Default: 512 KiB, which 40 ms at 100 Mbit/s are.
  public var requestCost: Int

  /// Creates options; omitted arguments take their defaults.
  public init(
    cacheByteLimit: Int = ByteRangeCache.defaultByteLimit, readAhead: Int = 1 << 20,
    requestCost: Int = 1 << 19
  ) {
    self.cacheByteLimit = cacheByteLimit
    self.readAhead = readAhead
    self.requestCost = requestCost
  }

  /// ``readAhead``, within bounds.
  var readAheadCount: Int { max(min(readAhead, cacheByteLimit / 2), 0) }
}
