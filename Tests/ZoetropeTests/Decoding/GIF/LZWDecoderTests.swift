import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10)), .computes)
struct LZWDecoderTests {
  /// Expands into memory of exactly the size that is asked for, with marks at both ends.
  static func expand(
    _ codes: [UInt8], minimumCodeSize: Int, count: Int, with expander: inout LZWDecoder
  ) -> (LZWResult, [UInt8]) {
    let size = LZWDecoder.headroom + count + LZWDecoder.slack
    return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: size) { memory in
      unsafe memory.initialize(repeating: 0xA5)
      guard let start = memory.baseAddress else { fatalError("no memory") }
      // Exactly as long as the codes, so that reading past them is caught under the sanitizer.
      let result = unsafe codes.withUnsafeBytes { codes in
        unsafe expander.expand(
          codes, minimumCodeSize: minimumCodeSize, into: start + LZWDecoder.headroom,
          count: count)
      }
      let pixels = unsafe Array(memory[LZWDecoder.headroom..<LZWDecoder.headroom + count])
      return (result, Array(pixels.prefix(result.pixelCount)))
    }
  }

  static func pixels(count: Int, colors: Int, random: inout SplitMix64) -> [UInt8] {
    var pixels: [UInt8] = []
    let longest = [1, 2, 8, 60, 3000].randomElement(using: &random) ?? 1
    while pixels.count < count {
      let run = Int.random(in: 1...longest, using: &random)
      let kind = Int.random(in: 0..<3, using: &random)
      if kind == 0 && pixels.count > run {
        let start = Int.random(in: 0...pixels.count - run, using: &random)
        pixels += pixels[start..<start + run]
      } else {
        let color = UInt8(Int.random(in: 0..<colors, using: &random))
        pixels += [UInt8](repeating: color, count: kind == 1 ? run : 1)
      }
    }
    return Array(pixels.prefix(count))
  }

  static func packer(
    minimumCodeSize: Int, random: inout SplitMix64
  ) -> LZWPacker {
    var packer = LZWPacker(minimumCodeSize: minimumCodeSize)
    packer.clearsFirst = Int.random(in: 0..<8, using: &random) != 0
    packer.ends = Int.random(in: 0..<8, using: &random) != 0
    packer.clearsWhenFull = Bool.random(using: &random)
    packer.cuts = [0, 0, 20, 200].randomElement(using: &random) ?? 0
    if Int.random(in: 0..<6, using: &random) == 0 {
      packer.clearsEvery = Int.random(in: 1...5000, using: &random)
    }
    return packer
  }

  @Test func `no codes at all end an empty frame, and any other too early`() {
    var expander = LZWDecoder()
    var memory = [UInt8](repeating: 0xA5, count: LZWDecoder.headroom + LZWDecoder.slack + 3)
    unsafe memory.withUnsafeMutableBufferPointer { memory in
      guard let start = memory.baseAddress else { return }
      let nothing = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
      let none = unsafe expander.expand(
        nothing, minimumCodeSize: 2, into: start + LZWDecoder.headroom, count: 0)
      #expect(none.status == .complete && none.pixelCount == 0)
      let three = unsafe expander.expand(
        nothing, minimumCodeSize: 2, into: start + LZWDecoder.headroom, count: 3)
      #expect(three.status == .dataExhausted && three.pixelCount == 0)
    }
    #expect(memory.allSatisfy { $0 == 0xA5 })
  }

  @Test(arguments: 0...8)
  func `packed codes decode to their indices`(minimumCodeSize: Int) {
    var random = SplitMix64(seed: UInt64(minimumCodeSize))
    var expander = LZWDecoder()
    for round in 0..<16 {
      let count = [1, 7, 130, 5000, 20_000].randomElement(using: &random) ?? 1
      let pixels = Self.pixels(count: count, colors: 1 << minimumCodeSize, random: &random)
      var packer = Self.packer(minimumCodeSize: minimumCodeSize, random: &random)
      let codes = packer.pack(pixels, random: &random)
      let (result, output) = Self.expand(
        codes, minimumCodeSize: minimumCodeSize, count: count, with: &expander)
      #expect(result.status == .complete, "round \(round)")
      #expect(output == pixels, "round \(round)")
    }
  }

  @Test(arguments: 0..<16)
  func `whole, cut and corrupted codes expand as the plain expander does`(seed: Int) {
    var random = SplitMix64(seed: 100 + UInt64(seed))
    var expander = LZWDecoder()
    var differences: [String] = []
    var statuses: Set<LZWResult.Status> = []
    for round in 0..<120 {
      let size = Int.random(in: 0...8, using: &random)
      let count = [0, 1, 20, 127, 128, 129, 600, 1500].randomElement(using: &random) ?? 1
      let pixels = Self.pixels(count: count, colors: 1 << size, random: &random)
      var packer = Self.packer(minimumCodeSize: size, random: &random)
      var codes = packer.pack(pixels, random: &random)
      switch Int.random(in: 0..<5, using: &random) {
      case 0 where !codes.isEmpty:
        codes.removeLast(Int.random(in: 1...codes.count, using: &random))
      case 1, 2:
        for _ in 0..<Int.random(in: 1...4, using: &random) where !codes.isEmpty {
          let at = Int.random(in: 0..<codes.count, using: &random)
          codes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
      case 3:
        codes += (0..<Int.random(in: 1...40, using: &random)).map { _ in
          UInt8.random(in: 0...255, using: &random)
        }
      default: break
      }
      let asked = [count, count, count + 300, count / 2].randomElement(using: &random) ?? count
      let usedSize = Int.random(in: 0..<12, using: &random) == 0 ? (size + 1) % 9 : size
      let ours = Self.expand(codes, minimumCodeSize: usedSize, count: asked, with: &expander)
      let plain = NaiveLZW.expand(codes, minimumCodeSize: usedSize, count: asked)
      statuses.insert(plain.0.status)
      if ours.0 != plain.0 || ours.1 != plain.1 {
        differences.append("round \(round): \(ours.0), plain \(plain.0)")
      }
    }
    #expect(differences.isEmpty)
    #expect(statuses.count == 4)
  }

  @Test func `a full dictionary stays as it is until a clear code`() {
    var random = SplitMix64(seed: 7)
    let pixels = Self.pixels(count: 200_000, colors: 200, random: &random)
    var packer = LZWPacker(minimumCodeSize: 8)
    packer.clearsWhenFull = false
    let codes = packer.pack(pixels, random: &random)
    var expander = LZWDecoder()
    let (result, output) = Self.expand(
      codes, minimumCodeSize: 8, count: pixels.count, with: &expander)
    #expect(result == NaiveLZW.expand(codes, minimumCodeSize: 8, count: pixels.count).0)
    #expect(output == pixels)
  }

  @Test func `a run of one colour expands from ever longer newest strings`() {
    var random = SplitMix64(seed: 8)
    let pixels = [UInt8](repeating: 3, count: 1_000_000)
    var packer = LZWPacker(minimumCodeSize: 2)
    let codes = packer.pack(pixels, random: &random)
    var expander = LZWDecoder()
    let (result, output) = Self.expand(
      codes, minimumCodeSize: 2, count: pixels.count, with: &expander)
    #expect(result.status == .complete && result.trailer == .endCode)
    #expect(output == pixels)
  }

  @Test func `codes made at random expand as the plain expander does`() {
    var random = SplitMix64(seed: 9)
    var expander = LZWDecoder()
    var differences = 0
    for _ in 0..<600 {
      let size = Int.random(in: 0...8, using: &random)
      // Codes that are valid more often than not: drawn below the next free one.
      var packer = LZWPacker(minimumCodeSize: size)
      var (width, next) = (size + 1, (1 << size) + 1)
      for _ in 0..<Int.random(in: 0...1500, using: &random) {
        var code = Int.random(in: 0...min(next, (1 << width) - 1), using: &random)
        if code == 1 << size + 1 { code = 0 }
        if Int.random(in: 0..<4, using: &random) == 0 { code = min(next, (1 << width) - 1) }
        packer.put(code, width: width)
        if code == 1 << size {
          (width, next) = (size + 1, (1 << size) + 1)
        } else {
          next = min(next + 1, 4096)
          if next >= 1 << width && width < 12 { width += 1 }
        }
      }
      let codes = packer.finish()
      let count = Int.random(in: 0...20_000, using: &random)
      let ours = Self.expand(codes, minimumCodeSize: size, count: count, with: &expander)
      let plain = NaiveLZW.expand(codes, minimumCodeSize: size, count: count)
      if ours.0 != plain.0 || ours.1 != plain.1 { differences += 1 }
    }
    #expect(differences == 0)
  }
}
