/// Gathers a record of known length from bytes that come in pieces.
struct ByteCollector: Sendable {
  private(set) var bytes: [UInt8] = []

  /// Moves bytes from `input` at `position` until there are `count`; says whether there are.
  mutating func collect(
    _ count: Int, from input: borrowing RawSpan, at position: inout Int
  ) -> Bool {
    while bytes.count < count, position < input.byteCount {
      bytes.append(input[position])
      position += 1
    }
    return bytes.count >= count
  }

  /// Forgets the record, so that the next one can be gathered.
  mutating func reset() {
    // Most records are not gathered here, and even emptying an empty array takes a call.
    if !bytes.isEmpty { bytes.removeAll(keepingCapacity: true) }
  }
}

extension RawSpan {
  /// The byte at `offset`, which is checked.
  package subscript(offset: Int) -> UInt8 {
    precondition(offset >= 0 && offset < byteCount)
    // The offset was checked above, and any bit pattern is a UInt8.
    return unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
  }
}

extension [UInt8] {
  /// The 16-bit number at `offset`, least significant byte first (GIF).
  func littleEndian16(at offset: Int) -> UInt16 {
    UInt16(self[offset]) | UInt16(self[offset + 1]) << 8
  }

  /// The 16-bit number at `offset`, most significant byte first (PNG).
  func bigEndian16(at offset: Int) -> UInt16 {
    UInt16(self[offset]) << 8 | UInt16(self[offset + 1])
  }

  /// The 32-bit number at `offset`, most significant byte first (PNG).
  func bigEndian32(at offset: Int) -> UInt32 {
    UInt32(bigEndian16(at: offset)) << 16 | UInt32(bigEndian16(at: offset + 2))
  }
}
