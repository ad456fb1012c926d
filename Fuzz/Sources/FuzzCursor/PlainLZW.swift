import Zoetrope

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// LZW in the words of the GIF specification: every string spelled out. Slow, and easy to trust.
enum PlainLZW {
  static func expand(
    _ codes: [UInt8], minimumCodeSize: Int, count: Int
  ) -> (LZWResult.Status, [UInt8]) {
    let clear = 1 << minimumCodeSize
    // A string is its last pixel and the code of the string before it.
    var table: [(before: Int, last: UInt8, first: UInt8, length: Int)] = []
    var previous: Int?
    var width = 0
    var output: [UInt8] = []
    func reset() {
      table = (0..<clear).map { (-1, UInt8($0), UInt8($0), 1) }
      table += [(-1, 0, 0, 0), (-1, 0, 0, 0)]
      previous = nil
      width = minimumCodeSize + 1
    }
    reset()
    var bit = 0
    while output.count < count {
      guard bit + width <= codes.count * 8 else { return (.dataExhausted, output) }
      var code = 0
      for i in 0..<width { code |= Int(codes[(bit + i) / 8] >> UInt8((bit + i) % 8) & 1) << i }
      bit += width
      if code == clear {
        reset()
        continue
      }
      if code == clear + 1 { return (.endCodeEarly, output) }
      if let previous, table.count < 4096 {
        guard code <= table.count else { return (.invalidCode, output) }
        let first = code == table.count ? table[previous].first : table[code].first
        table.append((previous, first, table[previous].first, table[previous].length + 1))
      }
      guard code < table.count else { return (.invalidCode, output) }
      var string: [UInt8] = []
      var link = code
      while link >= 0 {
        string.append(table[link].last)
        link = table[link].before
      }
      output += string.reversed().prefix(count - output.count)
      previous = code
      if table.count >= 1 << width, width < 12 { width += 1 }
    }
    return (.complete, output)
  }
}
