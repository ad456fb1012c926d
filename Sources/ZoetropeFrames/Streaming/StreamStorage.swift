/// Where the bytes of a stream are kept.
public struct StreamStorage: Sendable, Hashable {
  /// The maximum number of bytes kept in memory; later ones go to an unnamed temporary file. Rounded up to 256 KiB. The
  /// bytes are charged to ``MemoryBudget/shared``, and fewer are kept in memory while the budget has no room. Default:
  /// 16 MiB.
  public var memoryByteLimit: Int
  /// The maximum number of bytes kept. A longer stream ends with ``AnimatedImageError/Code/limitExceeded``.
  /// Default: 4 GiB.
  public var byteLimit: Int
  /// The directory of the temporary file. Default: nil, the directory in `TMPDIR`, else `/var/tmp`.
  public var directory: FilePath?

  /// Creates a storage description; omitted arguments take their defaults.
  public init(
    memoryByteLimit: Int = 16 << 20, byteLimit: Int = 4 << 30,
    directory: (any FilePathConvertible)? = nil
  ) {
    self.memoryByteLimit = memoryByteLimit
    self.byteLimit = byteLimit
    self.directory = directory?.filePath
  }
}
