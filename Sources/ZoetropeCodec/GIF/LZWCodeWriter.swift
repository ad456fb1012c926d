internal import Glibc

/// Packs codes, least significant bit first, and splits them into sub-blocks.
///
/// Unsafe code: bits are stored four bytes at a time, starting before `chunkSize`, in a block that is sixteen bytes
/// larger.
@safe
struct LZWCodeWriter {
  /// The number of bytes moved at a time, which is a whole number of sub-blocks.
  private static let chunkSize = 255 * 256
  /// Returns a block for a writer, with room after the chunk for two codes and the last bits, at most seven bytes.
  static func makeChunk() -> PixelStorage { PixelStorage(byteCount: chunkSize + 16) }

  private let chunk: PixelStorage
  private let base: UnsafeMutableRawPointer
  private var position = 0
  private var bits: UInt64 = 0
  private var bitCount = 0

  init(_ chunk: PixelStorage) {
    self.chunk = chunk
    unsafe base = chunk.baseAddress
  }

  /// Whether ``drain(into:)`` must be called, because two more codes, of at most 24 bits in total, may fill the chunk.
  @inline(__always) var isFull: Bool { position >= Self.chunkSize &- 4 }

  /// Adds a code of at most 12 bits. Fewer than 32 bits may be pending before it.
  @inline(__always)
  mutating func put(_ code: Int, _ width: Int) {
    bits |= UInt64(truncatingIfNeeded: code) &<< UInt64(bitCount)
    bitCount &+= width
    guard bitCount >= 32 else { return }
    unsafe base.storeBytes(
      of: UInt32(truncatingIfNeeded: bits).littleEndian, toByteOffset: position, as: UInt32.self)
    bits &>>= 32
    bitCount &-= 32
    position &+= 4
  }

  /// Moves the complete sub-blocks to `target` and the rest to the front.
  @inline(never)
  mutating func drain(into target: inout [UInt8]) {
    let whole = position / 255 * 255
    append(whole, to: &target)
    unsafe memmove(base, base + whole, position - whole)
    position -= whole
  }

  /// Moves everything to `target`, padding the last byte with zero bits.
  mutating func finish(into target: inout [UInt8]) {
    while bitCount > 0 {
      unsafe base.storeBytes(
        of: UInt8(truncatingIfNeeded: bits), toByteOffset: position, as: UInt8.self)
      bits &>>= 8
      bitCount -= 8
      position += 1
    }
    append(position, to: &target)
  }

  private func append(_ count: Int, to target: inout [UInt8]) {
    for start in stride(from: 0, to: count, by: 255) {
      let size = min(255, count - start)
      target.append(UInt8(size))
      target.append(copying: chunk.bytes.extracting(start..<start + size))
    }
  }
}
