/// A prefix code for Deflate: the codes of symbols by how often they occur.
struct HuffmanCode {
  /// The length of each symbol's code in bits; 0 for a symbol that does not occur.
  private(set) var lengths: [UInt8]
  /// Each symbol's code, first bit lowest, and its length from bit 16 on.
  private(set) var words: [UInt32]

  /// - Parameters:
  ///   - counts: How often each of up to 65,536 symbols occurs.
  ///   - limit: The most bits of a code, up to 15: at least the logarithm of the number of symbols.
  init(counts: [UInt32], limit: Int) {
    lengths = [UInt8](repeating: 0, count: counts.count)
    words = [UInt32](repeating: 0, count: counts.count)
    var keys: [UInt64] = []
    keys.reserveCapacity(counts.count)
    for (symbol, count) in counts.enumerated() where count > 0 {
      keys.append(UInt64(count) << 16 | UInt64(symbol))
    }
    if keys.count < 2 {
      // Some decoders accept complete codes only: two codes of one bit.
      let symbol = keys.first.map { Int($0 & 0xffff) } ?? 0
      lengths[symbol] = 1
      lengths[symbol == 0 ? 1 : 0] = 1
    } else {
      keys.sort()
      var symbol = 0
      let tallies = Self.tallies(keys, limit: limit)
      for length in (1...limit).reversed() {
        for _ in 0..<tallies[length] {
          lengths[Int(keys[symbol] & 0xffff)] = UInt8(length)
          symbol += 1
        }
      }
    }
    assign(limit: limit)
  }

  /// How many codes have each length. `keys` are counts above 16 bits, the least first.
  private static func tallies(_ keys: [UInt64], limit: Int) -> [Int] {
    // Leaves and inner nodes are two queues, both in order of weight.
    let count = keys.count
    var weights = keys.map { $0 >> 16 }
    weights.reserveCapacity(2 * count)
    var parents = [Int](repeating: 0, count: 2 * count - 1)
    var (leaf, inner) = (0, count)
    for node in count..<2 * count - 1 {
      var weight: UInt64 = 0
      for _ in 0..<2 {
        let takesLeaf = leaf < count && (inner >= node || weights[leaf] <= weights[inner])
        let child = takesLeaf ? leaf : inner
        if takesLeaf { leaf += 1 } else { inner += 1 }
        weight += weights[child]
        parents[child] = node
      }
      weights.append(weight)
    }
    var depths = [Int](repeating: 0, count: 2 * count - 1)
    var tallies = [Int](repeating: 0, count: limit + 1)
    for node in (0..<2 * count - 2).reversed() {
      depths[node] = depths[parents[node]] + 1
      if node < count { tallies[min(limit, depths[node])] += 1 }
    }
    // Codes cut to the limit overfill the code: lengthening shorter ones makes room.
    var total = (1...limit).reduce(0) { $0 + tallies[$1] << (limit - $1) }
    while total > 1 << limit {
      guard let length = (1..<limit).last(where: { tallies[$0] > 0 }) else { break }
      tallies[limit] -= 1
      tallies[length] -= 1
      tallies[length + 1] += 2
      total -= 1
    }
    return tallies
  }

  /// Gives each symbol the code that follows from the lengths (RFC 1951, 3.2.2).
  private mutating func assign(limit: Int) {
    var tallies = [UInt32](repeating: 0, count: limit + 1)
    for length in lengths where length > 0 { tallies[Int(length)] += 1 }
    var next = [UInt32](repeating: 0, count: limit + 1)
    for length in 1...limit { next[length] = (next[length - 1] + tallies[length - 1]) << 1 }
    for (symbol, length) in lengths.enumerated() where length > 0 {
      let code = UInt16(truncatingIfNeeded: next[Int(length)])
      next[Int(length)] += 1
      words[symbol] = UInt32(code.reversedBits >> (16 - UInt16(length))) | UInt32(length) << 16
    }
  }
}

/// The symbol of a length or distance, and the bits that follow it (RFC 1951, 3.2.5).
struct DeflateSymbol {
  let number: Int
  let extra: Int
  let extraBits: Int

  /// - Parameter length: 3 to 258.
  @inline(__always)
  init(length: Int) {
    let value = length &- 3
    extraBits = length == 258 ? 0 : max(0, 61 &- (value | 1).leadingZeroBitCount)
    number = length == 258 ? 285 : 257 &+ extraBits &<< 2 &+ value &>> extraBits
    extra = value & (1 &<< extraBits &- 1)
  }

  /// - Parameter distance: 1 to 32768.
  @inline(__always)
  init(distance: Int) {
    let value = distance &- 1
    extraBits = max(0, 62 &- (value | 1).leadingZeroBitCount)
    number = extraBits &<< 1 &+ value &>> extraBits
    extra = value & (1 &<< extraBits &- 1)
  }
}

extension UInt16 {
  fileprivate var reversedBits: UInt16 {
    var bits = self
    bits = bits >> 1 & 0x5555 | (bits & 0x5555) << 1
    bits = bits >> 2 & 0x3333 | (bits & 0x3333) << 2
    bits = bits >> 4 & 0x0f0f | (bits & 0x0f0f) << 4
    return bits.byteSwapped
  }
}
