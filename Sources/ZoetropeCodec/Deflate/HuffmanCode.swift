/// A prefix code for Deflate, built from the frequencies of its symbols.
struct HuffmanCode {
  /// The length of each symbol's code in bits, or 0 for a symbol that does not occur.
  private(set) var lengths: [UInt8]
  /// For each symbol, its code in the low 16 bits, with the code's first bit lowest, and the code's length in the bits
  /// above.
  private(set) var words: [UInt32]

  /// Creates a code for the given frequencies.
  ///
  /// - Parameters:
  ///   - counts: The frequency of each of up to 65,536 symbols.
  ///   - limit: The maximum length of a code in bits: at most 15, and at least the binary logarithm
  ///     of the number of symbols.
  init(counts: [UInt32], limit: Int) {
    lengths = [UInt8](repeating: 0, count: counts.count)
    words = [UInt32](repeating: 0, count: counts.count)
    var keys: [UInt64] = []
    keys.reserveCapacity(counts.count)
    for (symbol, count) in counts.enumerated() where count > 0 {
      keys.append(UInt64(count) << 16 | UInt64(symbol))
    }
    if keys.count < 2 {
      // Some decoders accept only complete codes, so use two codes of one bit.
      let symbol = keys.first.map { Int($0 & 0xffff) } ?? 0
      let other = symbol == 0 ? 1 : 0
      lengths[symbol] = 1
      lengths[other] = 1
      words[max(symbol, other)] = 1
      words[symbol] |= 1 << 16
      words[other] |= 1 << 16
      return
    }
    keys.sort()
    let tallies = Self.tallies(keys, limit: limit)
    var symbol = 0
    for length in (1...limit).reversed() {
      for _ in 0..<tallies[length] {
        lengths[Int(keys[symbol] & 0xffff)] = UInt8(length)
        symbol += 1
      }
    }
    assign(tallies, limit: limit)
  }

  /// Returns the number of codes of each length.
  ///
  /// The algorithm is that of Moffat and Katajainen, "In-place calculation of minimum-redundancy codes".
  ///
  /// - Parameter keys: One key for each symbol that occurs, in ascending order: the symbol in the low 16 bits, and its
  ///   frequency above them.
  private static func tallies(_ keys: [UInt64], limit: Int) -> InlineArray<16, Int> {
    let count = keys.count
    // The array first contains the leaves, ordered by weight. Inner nodes overwrite leaves that have been merged: an
    // element first contains the weight of an inner node, then the number of the node's parent once the node has been
    // merged too, and finally the node's depth.
    var nodes = keys.map { Int($0 >> 16) }
    var (leaf, inner) = (0, 0)
    for node in 0..<count - 1 {
      var weight = 0
      for _ in 0..<2 {
        if leaf >= count || inner < node && nodes[inner] < nodes[leaf] {
          weight += nodes[inner]
          nodes[inner] = node
          inner += 1
        } else {
          weight += nodes[leaf]
          leaf += 1
        }
      }
      nodes[node] = weight
    }
    nodes[count - 2] = 0
    for node in (0..<count - 2).reversed() { nodes[node] = nodes[nodes[node]] + 1 }
    var tallies = InlineArray<16, Int>(repeating: 0)
    // Count the nodes at each depth, from the root down. Nodes that are not inner nodes are leaves.
    var (depth, places, node) = (0, 1, count - 2)
    while places > 0 {
      var innerCount = 0
      while node >= 0, nodes[node] == depth {
        innerCount += 1
        node -= 1
      }
      tallies[min(limit, depth)] += places - innerCount
      places = 2 * innerCount
      depth += 1
    }
    // Clamping lengths to the limit oversubscribes the code. Lengthening shorter codes makes room.
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

  /// Assigns the codes that follow from the lengths (RFC 1951, 3.2.2).
  private mutating func assign(_ tallies: InlineArray<16, Int>, limit: Int) {
    var next = InlineArray<16, Int>(repeating: 0)
    for length in 1...limit { next[length] = (next[length - 1] + tallies[length - 1]) << 1 }
    for (symbol, length) in lengths.enumerated() where length > 0 {
      let code = UInt16(truncatingIfNeeded: next[Int(length)])
      next[Int(length)] += 1
      words[symbol] = UInt32(code.reversedBits >> (16 - UInt16(length))) | UInt32(length) << 16
    }
  }
}

/// The symbol of a length or distance, and the extra bits that follow the symbol (RFC 1951, 3.2.5).
struct DeflateSymbol {
  let number: Int
  let extra: Int
  let extraBits: Int

  /// Creates the symbol of a match length.
  ///
  /// - Parameter length: The length, 3 to 258.
  @inline(__always)
  init(length: Int) {
    let value = length &- 3
    extraBits = length == 258 ? 0 : max(0, 61 &- (value | 1).leadingZeroBitCount)
    number = length == 258 ? 285 : 257 &+ extraBits &<< 2 &+ value &>> extraBits
    extra = value & (1 &<< extraBits &- 1)
  }

  /// Creates the symbol of a match distance.
  ///
  /// - Parameter distance: The distance, 1 to 32768.
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
