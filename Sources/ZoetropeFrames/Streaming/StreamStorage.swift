/// Options that determine where the bytes of a stream are kept.
public struct StreamStorage: Sendable, Hashable {
  /// The maximum number of bytes kept in memory, rounded up to a multiple of 256 KiB. Bytes beyond this number are kept
  /// in an unnamed temporary file. The bytes in memory are charged to ``MemoryBudget/shared``. If that budget has no
  /// room, all later bytes of the stream go to the file. Default: 16 MiB.
  public var memoryByteLimit: Int
  /// The maximum number of bytes kept in memory and in the file together. A longer stream ends with
  /// ``AnimatedImageError/Code/limitExceeded``. Default: 4 GiB.
  public var byteLimit: Int
  /// The directory of the temporary file. Default: nil, which selects the directory in the environment variable
  /// `TMPDIR` or, if the variable is not set or empty, `/var/tmp`.
  public var directory: FilePath?

  /// Creates storage options. An omitted argument takes the default of the property with the same name.
  public init(
    memoryByteLimit: Int = 16 << 20, byteLimit: Int = 4 << 30,
    directory: (any FilePathConvertible)? = nil
  ) {
    self.memoryByteLimit = memoryByteLimit
    self.byteLimit = byteLimit
    self.directory = directory?.filePath
  }
}
