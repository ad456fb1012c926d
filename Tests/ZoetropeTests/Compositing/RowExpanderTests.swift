import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10)), .computes)
struct RowExpanderTests {
  static let layouts: [(FramePixels.Layout, size: Int)] = [
    (.indexed8, 1), (.grey8, 1), (.greyAlpha8, 2), (.rgb8, 3), (.rgba8, 4), (.grey16, 2),
    (.greyAlpha16, 4), (.rgb16, 6), (.rgba16, 8), (.keyedRGB8, 3), (.keyedGrey16, 2),
    (.keyedRGB16, 6),
  ]

  /// Random samples; where a key makes pixels transparent, every third one is the key, and every third
  /// is the key but for one bit.
  private func samples(
    _ layout: (FramePixels.Layout, size: Int), count: Int, palette: inout [UInt32],
    random: inout SplitMix64
  ) -> [UInt8] {
    var bytes = (0..<count * layout.size).map { _ in UInt8.random(in: 0...255, using: &random) }
    guard [.keyedRGB8, .keyedGrey16, .keyedRGB16].contains(layout.0), count > 0 else {
      return bytes
    }
    let key = Array(bytes[..<layout.size])
    for x in 0..<count where x % 3 < 2 {
      bytes.replaceSubrange(x * layout.size..<(x + 1) * layout.size, with: key)
      if x % 3 == 1 { bytes[x * layout.size + x % layout.size] ^= 1 << (x % 8) }
    }
    let padded = key + [UInt8](repeating: 0, count: 8 - key.count)
    for entry in 0..<2 {
      let word = padded[4 * entry..<4 * entry + 4]
      palette[entry] = word.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }
    return bytes
  }

  /// Red, green, blue and alpha of 16 bits; 8-bit samples times 257.
  private func pixel(
    _ layout: FramePixels.Layout, _ bytes: ArraySlice<UInt8>, _ palette: [UInt32]
  ) -> [UInt16] {
    let bytes = Array(bytes)
    let shallow = bytes.map { UInt16($0) * 257 }
    let deep = stride(from: 0, to: bytes.count - 1, by: 2).map {
      UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
    }
    let key = bytes.indices.map { UInt8(truncatingIfNeeded: palette[$0 / 4] >> (8 * ($0 % 4))) }
    let opaque: UInt16 = bytes == key ? 0 : 65535
    return switch layout {
    case .indexed8:
      (0..<4).map { UInt16(palette[Int(bytes[0])] >> (8 * UInt32($0)) & 255) * 257 }
    case .grey8: [shallow[0], shallow[0], shallow[0], 65535]
    case .greyAlpha8: [shallow[0], shallow[0], shallow[0], shallow[1]]
    case .rgb8: shallow + [65535]
    case .rgba8: shallow
    case .grey16: [deep[0], deep[0], deep[0], 65535]
    case .greyAlpha16: [deep[0], deep[0], deep[0], deep[1]]
    case .rgb16: deep + [65535]
    case .rgba16: deep
    case .keyedRGB8: shallow + [opaque]
    case .keyedGrey16: [deep[0], deep[0], deep[0], opaque]
    case .keyedRGB16: deep + [opaque]
    }
  }

  @Test(arguments: layouts)
  func `every layout expands at every length and writes nothing past it`(
    layout: (FramePixels.Layout, size: Int)
  ) {
    var random = SplitMix64(seed: UInt64(layout.size))
    var palette = (0..<256).map { _ in UInt32.random(in: 0...UInt32.max, using: &random) }
    for count in 0...37 {
      let source = samples(layout, count: count, palette: &palette, random: &random)
      var target = [UInt32](repeating: 0x1234_5678, count: count + 1)
      var deepTarget = [SIMD4<UInt16>](repeating: SIMD4(1, 2, 3, 4), count: count + 1)
      unsafe RowExpander.write(
        layout.0, from: source, to: &target, count: count, palette: palette)
      unsafe RowExpander.writeDeep(
        layout.0, from: source, to: &deepTarget, count: count, palette: palette)
      #expect(target[count] == 0x1234_5678)
      #expect(deepTarget[count] == SIMD4(1, 2, 3, 4))
      for x in 0..<count {
        let value = pixel(layout.0, source[x * layout.size..<(x + 1) * layout.size], palette)
        let word = (0..<4).reduce(UInt32(0)) { $0 | UInt32(value[$1] >> 8) << (8 * UInt32($1)) }
        #expect(target[x] == word)
        #expect(deepTarget[x] == SIMD4(value[0], value[1], value[2], value[3]))
      }
    }
  }

  @Test(arguments: layouts)
  func `a column expands like rows of one pixel`(layout: (FramePixels.Layout, size: Int)) {
    var random = SplitMix64(seed: UInt64(layout.size))
    var palette = (0..<256).map { _ in UInt32.random(in: 0...UInt32.max, using: &random) }
    let count = 50
    let source = samples(layout, count: count, palette: &palette, random: &random)
    var row = [UInt32](repeating: 0, count: count)
    unsafe RowExpander.write(layout.0, from: source, to: &row, count: count, palette: palette)
    // A byte before each sample, as in PNG, and fifteen pixels behind each that is drawn.
    let apart = (0..<count).flatMap { [7] + source[$0 * layout.size..<($0 + 1) * layout.size] }
    var column = [UInt32](repeating: 0x1234_5678, count: count * 16)
    unsafe apart.withUnsafeBytes { bytes in
      unsafe RowExpander.writeColumn(
        layout.0, from: bytes.baseAddress! + 1, pitch: layout.size + 1, to: &column, pitch: 64,
        count: count, palette: palette)
    }
    for y in 0..<count {
      #expect(column[y * 16] == row[y])
      #expect(column[y * 16 + 1..<(y + 1) * 16].allSatisfy { $0 == 0x1234_5678 })
    }
  }

  @Test(arguments: layouts)
  func `laying a row over another blends its expanded pixels`(
    layout: (FramePixels.Layout, size: Int)
  ) {
    var random = SplitMix64(seed: UInt64(layout.size + 20))
    var palette = (0..<256).map { _ in UInt32.random(in: 0...UInt32.max, using: &random) }
    // Some entries are opaque and some transparent, and runs of an index are longer than a group.
    for entry in stride(from: 0, to: 256, by: 3) {
      palette[entry] = entry % 2 == 0 ? palette[entry] | 0xff00_0000 : palette[entry] & 0xff_ffff
    }
    for count in Array(0...40) + [300, 600] {
      var source = samples(layout, count: count, palette: &palette, random: &random)
      if layout.0 == .indexed8, count > 50 {
        for start in stride(from: 0, to: count - 40, by: 60) {
          for x in start..<start + 40 { source[x] = source[start] }
        }
      }
      let canvas = (0..<count).map { x in
        UInt32.random(in: 0...UInt32.max, using: &random) | (x / 20 % 2 == 0 ? 0xff00_0000 : 0)
      }
      var expanded = canvas
      unsafe RowExpander.write(
        layout.0, from: source, to: &expanded, count: count, palette: palette)
      var target = canvas
      unsafe RowBlender.over(
        layout.0, from: source, to: &target, count: count, palette: palette)
      #expect(target == zip(expanded, canvas).map { RowBlender.blend($0, $1) })
    }
  }
}
