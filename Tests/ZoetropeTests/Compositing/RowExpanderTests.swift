import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(1)), .computes)
struct RowExpanderTests {
  static let layouts: [(FramePixels.Layout, size: Int)] = [
    (.indexed8, 1), (.grey8, 1), (.greyAlpha8, 2), (.rgb8, 3), (.rgba8, 4), (.grey16, 2),
    (.greyAlpha16, 4), (.rgb16, 6), (.rgba16, 8),
  ]

  /// Red, green, blue and alpha of 16 bits; 8-bit samples times 257.
  private func pixel(
    _ layout: FramePixels.Layout, _ bytes: ArraySlice<UInt8>, _ palette: [UInt32]
  ) -> [UInt16] {
    let bytes = Array(bytes)
    let shallow = bytes.map { UInt16($0) * 257 }
    let deep = stride(from: 0, to: bytes.count - 1, by: 2).map {
      UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
    }
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
    }
  }

  @Test(arguments: layouts)
  func `every layout expands at every length and writes nothing past it`(
    layout: (FramePixels.Layout, size: Int)
  ) {
    var random = SplitMix64(seed: UInt64(layout.size))
    let palette = (0..<256).map { _ in UInt32.random(in: 0...UInt32.max, using: &random) }
    for count in 0...37 {
      let source = (0..<count * layout.size).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
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
  func `laying a row over another blends its expanded pixels`(
    layout: (FramePixels.Layout, size: Int)
  ) {
    var random = SplitMix64(seed: UInt64(layout.size + 20))
    let palette = (0..<256).map { _ in UInt32.random(in: 0...UInt32.max, using: &random) }
    for count in [1, 15, 16, 40, 600] {
      let source = (0..<count * layout.size).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      let canvas = (0..<count).map { _ in UInt32.random(in: 0...UInt32.max, using: &random) }
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
