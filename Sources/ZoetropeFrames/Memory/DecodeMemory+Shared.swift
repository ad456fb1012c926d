import ZoetropeCodec

extension DecodeMemory {
  /// The account shared by the whole process. Its limit is half of the caches' default limit.
  static let shared = DecodeMemory(byteLimit: MemoryBudget.defaultByteLimit / 2)
}
