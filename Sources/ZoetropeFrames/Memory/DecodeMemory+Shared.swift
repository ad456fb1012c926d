import ZoetropeCodec

extension DecodeMemory {
  /// The process-wide account of the memory for frames decoded ahead and for spare blocks. Its limit is half of the
  /// default limit of a ``MemoryBudget``.
  static let shared = DecodeMemory(byteLimit: MemoryBudget.defaultByteLimit / 2)
}
