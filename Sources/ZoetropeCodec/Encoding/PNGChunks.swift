internal import CDeflate

/// The bytes of a PNG file, grown chunk by chunk.
struct PNGChunks {
  /// The eight bytes that every PNG starts with.
  static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

  private(set) var bytes: [UInt8]

  init(capacity: Int = 0) {
    bytes = []
    bytes.reserveCapacity(capacity)
  }

  mutating func append(raw: [UInt8]) { bytes += raw }

  /// Appends a chunk: length, type, data and CRC.
  mutating func append(_ type: StaticString, _ data: [UInt8]) {
    open(type, count: data.count)
    bytes += data
    close(count: data.count)
  }

  /// Appends a chunk whose data are the first `count` bytes of `storage`.
  mutating func append(_ type: StaticString, _ storage: PixelStorage, count: Int) {
    open(type, count: count)
    // The storage is at least `count` bytes long (`extracting` checks) and outlives the copy.
    let span = storage.bytes.extracting(first: count)
    unsafe span.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    close(count: count)
  }

  private mutating func open(_ type: StaticString, count: Int) {
    append(UInt32(count))
    precondition(type.utf8CodeUnitCount == 4)
    unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: type.utf8Start, count: 4))
  }

  private mutating func close(count: Int) {
    let start = bytes.count - count - 4
    let crc = unsafe bytes.withUnsafeBytes {
      // `start` and the end lie inside: `open` and the data were appended just before.
      unsafe libdeflate_crc32(0, $0.baseAddress.map { unsafe $0 + start }, count + 4)
    }
    append(crc)
  }

  private mutating func append(_ value: UInt32) { bytes += value.bigEndianBytes }
}

extension UInt32 {
  /// The four bytes, most significant first, as PNG stores numbers.
  var bigEndianBytes: [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: self >> $0) }
  }
}
