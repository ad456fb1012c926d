import ZoetropeCodec

extension DecodeMemory {
  /// The account of the process: half of the caches' default limit.
  static let shared = DecodeMemory(byteLimit: MemoryBudget.defaultByteLimit / 2)
}
