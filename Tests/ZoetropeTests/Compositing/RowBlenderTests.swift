import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10)), .computes)
struct RowBlenderTests {
  /// The rule in whole numbers: weights 255 sa and da (255 - sa), rounded half up.
  private func exact(_ over: RGBA, _ under: RGBA) -> RGBA {
    let overWeight = Int(over.alpha) * 255
    let underWeight = Int(under.alpha) * (255 - Int(over.alpha))
    let sum = overWeight + underWeight
    if over.alpha == 0 { return under }
    func mixed(_ above: UInt8, _ below: UInt8) -> UInt8 {
      UInt8((2 * (Int(above) * overWeight + Int(below) * underWeight) + sum) / (2 * sum))
    }
    return RGBA(
      red: mixed(over.red, under.red), green: mixed(over.green, under.green),
      blue: mixed(over.blue, under.blue), alpha: UInt8((2 * sum + 255) / 510))
  }

  private func over(_ source: [UInt32], _ target: [UInt32]) -> [UInt32] {
    var result = target
    let palette = [UInt32](repeating: 0, count: 256)
    unsafe RowBlender.over(
      .rgba8, from: source, to: &result, count: source.count, palette: palette)
    return result
  }

  @Test(arguments: [0, 32, 64, 96, 128, 160, 192, 224])
  func `blending is exact for every pair of alphas`(firstAlpha: Int) {
    var random = SplitMix64(seed: UInt64(firstAlpha + 1))
    let extremes: [UInt8] = [0, 1, 127, 128, 254, 255]
    func channel() -> UInt8 {
      Bool.random(using: &random)
        ? UInt8.random(in: 0...255, using: &random) : extremes.randomElement(using: &random) ?? 0
    }
    func pixel(_ alpha: Int) -> RGBA {
      RGBA(red: channel(), green: channel(), blue: channel(), alpha: UInt8(alpha))
    }
    for alpha in firstAlpha..<firstAlpha + 32 {
      let above = (0..<256).map { _ in pixel(alpha) }
      let below = (0..<256).map { pixel($0) }
      let result = over(above.map(\.word), below.map(\.word))
      let wrong = (0..<256).first { result[$0] != exact(above[$0], below[$0]).word }
      #expect(wrong == nil, "source alpha \(alpha), canvas alpha \(wrong ?? 0)")
    }
  }

  @Test func `blending onto opaque pixels is exact for every alpha and colour`() {
    var random = SplitMix64(seed: 9)
    for alpha in 0...255 {
      let above = (0..<256).map { RGBA(red: UInt8($0), green: 255, blue: 0, alpha: UInt8(alpha)) }
      let below = (0..<256).map { index in
        RGBA(
          red: UInt8.random(in: 0...255, using: &random), green: UInt8(index),
          blue: UInt8(255 - index))
      }
      let result = over(above.map(\.word), below.map(\.word))
      let wrong = (0..<256).first { result[$0] != exact(above[$0], below[$0]).word }
      #expect(wrong == nil, "alpha \(alpha)")
    }
  }

  @Test func `runs of every kind and length give what single pixels give`() {
    var random = SplitMix64(seed: 11)
    for count in 0...70 {
      var above: [RGBA] = []
      var below: [RGBA] = []
      while above.count < count {
        let alphas: [UInt8] = [0, 255, UInt8.random(in: 0...255, using: &random)]
        let source = alphas.randomElement(using: &random) ?? 0
        let canvas = alphas.randomElement(using: &random) ?? 0
        for _ in 0..<min(Int.random(in: 1...40, using: &random), count - above.count) {
          let word = UInt32.random(in: 0...UInt32.max, using: &random)
          above.append(RGBA(word: word & 0xff_ffff | UInt32(source) << 24))
          below.append(RGBA(word: ~word & 0xff_ffff | UInt32(canvas) << 24))
        }
      }
      let result = over(above.map(\.word), below.map(\.word))
      #expect(result == zip(above, below).map { exact($0, $1).word })
    }
  }

  @Test(arguments: RowExpanderTests.layouts)
  func `rows of every layout blend in 16 bits pixel by pixel, and nothing past them`(
    layout: (FramePixels.Layout, size: Int)
  ) {
    var random = SplitMix64(seed: 13)
    let palette = (0..<256).map { _ in UInt32.random(in: 0...(.max), using: &random) }
    for count in 0...9 {
      let source = (0..<10 * layout.size).map { _ in UInt8.random(in: 0...255, using: &random) }
      let under = (0..<10).map { _ in
        SIMD4((0..<4).map { _ in UInt16.random(in: 0...65535, using: &random) })
      }
      var over = under
      unsafe RowExpander.writeDeep(
        layout.0, from: source, to: &over, count: count, palette: palette)
      var result = under
      unsafe RowBlender.overDeep(
        layout.0, from: source, to: &result, count: count, palette: palette)
      #expect(result[..<count] == zip(over, under).map { RowBlender.blendDeep($0, $1) }[..<count])
      #expect(result[count...] == under[count...])
    }
  }

  @Test func `blending of 16 bits is exact`() {
    var random = SplitMix64(seed: 12)
    let extremes: [UInt16] = [0, 1, 32767, 32768, 65534, 65535]
    func channel() -> UInt16 {
      Bool.random(using: &random)
        ? UInt16.random(in: 0...65535, using: &random) : extremes.randomElement(using: &random) ?? 0
    }
    for _ in 0..<20_000 {
      let over = SIMD4(channel(), channel(), channel(), channel())
      let under = SIMD4(channel(), channel(), channel(), channel())
      let result = RowBlender.blendDeep(over, under)
      guard over.w > 0 else {
        #expect(result == under)
        continue
      }
      let weights = (UInt64(over.w) * 65535, UInt64(under.w) * UInt64(65535 - over.w))
      let sum = weights.0 + weights.1
      for lane in 0..<3 {
        // |2 (N - c A)| <= A, and equal only when rounded up: c is N / A rounded half up.
        let doubled =
          2 * (Int(over[lane]) * Int(weights.0) + Int(under[lane]) * Int(weights.1))
          - 2 * Int(result[lane]) * Int(sum)
        #expect(doubled < Int(sum) && doubled >= -Int(sum))
      }
      #expect(abs(2 * Int(sum) - 2 * 65535 * Int(result.w)) <= 65535)
    }
  }
}
