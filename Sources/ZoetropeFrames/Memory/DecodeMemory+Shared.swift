import ZoetropeCodec

extension DecodeMemory {
  /// The account that the whole process shares. Its limit is half of the default limit of a ``MemoryBudget``.
  static let shared = DecodeMemory(byteLimit: MemoryBudget.defaultByteLimit / 2)
}
