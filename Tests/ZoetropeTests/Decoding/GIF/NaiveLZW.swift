import Zoetrope

/// LZW as the format describes it: a list of strings, one code at a time. Slow and plain, to compare with.
enum NaiveLZW {
  static func expand(_ codes: [UInt8], minimumCodeSize: Int, count: Int) -> (LZWResult, [UInt8]) {
    let clear = 1 << minimumCodeSize
    let roots: [[UInt8]] = (0..<clear).map { [UInt8($0)] } + [[], []]
    var strings = roots
    var previous: [UInt8]?
    var width = minimumCodeSize + 1
    var output: [UInt8] = []
    var bit = 0
    func code(_ width: Int, at bit: Int) -> Int? {
      guard bit + width <= codes.count * 8 else { return nil }
      let byte = bit / 8
      var bits = Int(codes[byte])
      if byte + 1 < codes.count { bits |= Int(codes[byte + 1]) << 8 }
      if byte + 2 < codes.count { bits |= Int(codes[byte + 2]) << 16 }
      return bits >> (bit % 8) & ((1 << width) - 1)
    }
    func result(_ status: LZWResult.Status, _ offset: Int) -> (LZWResult, [UInt8]) {
      (LZWResult(status: status, pixelCount: output.count, byteOffset: offset), output)
    }
    while output.count < count {
      guard let next = code(width, at: bit) else { return result(.dataExhausted, codes.count) }
      if next == clear + 1 { return result(.endCodeEarly, bit / 8) }
      if next == clear {
        bit += width
        (strings, previous, width) = (roots, nil, minimumCodeSize + 1)
        continue
      }
      let string: [UInt8]
      if next < strings.count {
        string = strings[next]
      } else if next == strings.count, strings.count < 4096, let previous {
        string = previous + [previous[0]]
      } else {
        return result(.invalidCode, bit / 8)
      }
      bit += width
      output += string.prefix(count - output.count)
      if let previous, strings.count < 4096 { strings.append(previous + [string[0]]) }
      previous = string
      if strings.count >= 1 << width && width < 12 { width += 1 }
    }
    var complete = result(.complete, (bit + 7) / 8).0
    complete.trailer = .missing
    if let next = code(width, at: bit) {
      let behind = codes[((bit + width + 7) / 8)...]
      complete.trailer =
        next == clear + 1 && (behind.isEmpty || behind == [0]) ? .endCode : .surplus
    }
    return (complete, output)
  }
}
