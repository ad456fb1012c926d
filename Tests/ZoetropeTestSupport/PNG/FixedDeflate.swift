/// A small deflate encoder with fixed Huffman codes and a one-entry match table.
///
/// Fixtures are committed and compared byte by byte with their recipes, so their bytes must not
/// depend on the version of a library. Size and speed do not matter here.
public struct FixedDeflate {
  private var bytes: [UInt8] = []
  /// The length code of the longest match: 285, or one that deflate reserves.
  private var longest = 285
  private var buffer: UInt64 = 0
  private var bitCount: UInt64 = 0

  /// Raw deflate data, one final block.
  public static func encode(_ data: [UInt8]) -> [UInt8] { encode(data, longestMatch: 285) }

  /// The same with another length code for matches of 258 bytes, such as the reserved 286 and 287.
  package static func encode(_ data: [UInt8], longestMatch: Int) -> [UInt8] {
    var encoder = FixedDeflate()
    encoder.longest = longestMatch
    encoder.put(1, bits: 1)
    encoder.put(1, bits: 2)
    encoder.compress(data)
    encoder.symbol(256)
    if encoder.bitCount > 0 { encoder.bytes.append(UInt8(truncatingIfNeeded: encoder.buffer)) }
    return encoder.bytes
  }

  private mutating func compress(_ data: [UInt8]) {
    var newest: [UInt32: Int] = [:]
    var position = 0
    while position < data.count {
      var length = 0
      var distance = 0
      if position + 3 <= data.count {
        let key =
          UInt32(data[position]) | UInt32(data[position + 1]) << 8
          | UInt32(data[position + 2]) << 16
        if let start = newest[key], position - start <= 32_768 {
          distance = position - start
          let limit = min(258, data.count - position)
          while length < limit, data[start + length] == data[position + length] { length += 1 }
        }
        newest[key] = position
      }
      if length >= 3 {
        match(length: length, distance: distance)
        position += length
      } else {
        symbol(Int(data[position]))
        position += 1
      }
    }
  }

  /// RFC 1951, 3.2.5: length codes 257 to 285, distance codes 0 to 29 of five bits.
  private mutating func match(length: Int, distance: Int) {
    if length == 258 {
      symbol(longest)
    } else {
      let (code, extra, rest) = Self.split(length - 3, direct: 8, perGroup: 4)
      symbol(257 + code)
      put(UInt64(rest), bits: UInt64(extra))
    }
    let (code, extra, rest) = Self.split(distance - 1, direct: 4, perGroup: 2)
    reversed(UInt64(code), bits: 5)
    put(UInt64(rest), bits: UInt64(extra))
  }

  /// Code, number of extra bits and their value, for a table whose first `direct` codes have none
  /// and in which each further group of `perGroup` codes has one more.
  private static func split(
    _ value: Int, direct: Int, perGroup: Int
  ) -> (code: Int, extra: Int, rest: Int) {
    var (code, extra, base) = (0, 0, 0)
    while true {
      let span = 1 << extra
      if value < base + span { return (code, extra, value - base) }
      base += span
      code += 1
      if code >= direct, (code - direct) % perGroup == 0 { extra += 1 }
    }
  }

  /// RFC 1951, 3.2.6: the fixed literal and length codes.
  private mutating func symbol(_ value: Int) {
    switch value {
    case ..<144: reversed(UInt64(0x30 + value), bits: 8)
    case ..<256: reversed(UInt64(0x190 + value - 144), bits: 9)
    case ..<280: reversed(UInt64(value - 256), bits: 7)
    default: reversed(UInt64(0xc0 + value - 280), bits: 8)
    }
  }

  private mutating func reversed(_ code: UInt64, bits: UInt64) {
    var result: UInt64 = 0
    for bit in 0..<bits { result |= (code >> bit & 1) << (bits - 1 - bit) }
    put(result, bits: bits)
  }

  private mutating func put(_ value: UInt64, bits: UInt64) {
    buffer |= value << bitCount
    bitCount += bits
    while bitCount >= 8 {
      bytes.append(UInt8(truncatingIfNeeded: buffer))
      buffer >>= 8
      bitCount -= 8
    }
  }
}
