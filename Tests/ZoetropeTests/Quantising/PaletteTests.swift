import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec

@Suite(.timeLimit(.minutes(10)), .computes) struct PaletteTests {
  @Test func `Oklab has the values of its definition`() {
    let converter = Oklab.Converter.shared
    #expect(converter.color(RGBA(red: 255, green: 255, blue: 255).word).lightness == 4096)
    #expect(converter.color(RGBA.black.word) == Oklab(lightness: 0, a: 0, b: 0))
    // 0.62796, 0.22486, 0.12585.
    let red = converter.color(RGBA(red: 255, green: 0, blue: 0).word)
    #expect(red.distance(to: Oklab(lightness: 2572, a: 921, b: 515)) < 12)
    // 0.45201, -0.03246, -0.31153.
    let blue = converter.color(RGBA(red: 0, green: 0, blue: 255).word)
    #expect(blue.distance(to: Oklab(lightness: 1851, a: -133, b: -1276)) < 12)
    for level in 1...255 {
      let grey = converter.color(red: level, green: level, blue: level)
      #expect(abs(grey.a) <= 4 && abs(grey.b) <= 4)
      #expect(
        grey.lightness
          > converter.color(red: level - 1, green: level - 1, blue: level - 1).lightness
      )
    }
  }

  @Test func `colours with alpha are as far apart as they look on black and on white`() {
    let converter = Oklab.Converter.shared
    func blended(_ color: RGBA, _ ground: Int) -> Oklab {
      func sample(_ sample: UInt8) -> Int {
        (Int(sample) * Int(color.alpha) + ground * (255 - Int(color.alpha)) + 127) / 255
      }
      return converter.color(
        red: sample(color.red), green: sample(color.green), blue: sample(color.blue))
    }
    var random = SplitMix64(seed: 5)
    for _ in 0..<3000 {
      let one = RGBA(word: UInt32(truncatingIfNeeded: random.next()))
      let other = RGBA(word: UInt32(truncatingIfNeeded: random.next()))
      let seen = [0, 255].map { blended(one, $0).distance(to: blended(other, $0)) }
      let distance = converter.color(one.word).distance(to: converter.color(other.word))
      // Mixtures of sRGB are not quite those of Oklab.
      let (root, mean) = (Double(distance).squareRoot(), Double(seen[0] + seen[1]) / 2)
      #expect(abs(root - mean.squareRoot()) < 500, "\(one) \(other)")
    }
    let hidden = RGBA(red: 90, green: 8, blue: 7, alpha: 0).word
    #expect(converter.color(hidden) == converter.color(0) && converter.color(0).clearness == 2048)
  }

  @Test(arguments: [2, 16, 255]) func `palettes with alpha come closer with more entries`(
    count: Int
  ) throws {
    var random = SplitMix64(seed: 9)
    let colors = (0..<5000).map { _ in
      RGBA(word: UInt32(truncatingIfNeeded: random.next()) | 0x0100_0000)
    }
    func error(_ count: Int) throws -> Int {
      let found = try histogram(colors.map { ($0, 1) })
      let palette = PaletteFinder.palette(of: found, count: count)
      #expect(palette.count <= count && !palette.contains { $0 >> 24 == 0 })
      let translucent = palette.prefix { $0 >> 24 < 255 }
      #expect(palette.dropFirst(translucent.count).allSatisfy { $0 >> 24 == 255 })
      let search = NearestColor(palette + [0])
      return colors.reduce(0) {
        $0 + search.nearest(to: Oklab.Converter.shared.color($1.word)).distance
      }
    }
    #expect(try error(count) < error(count / 2))
  }

  /// A histogram of colours, each with its weight.
  private func histogram(_ colors: [(RGBA, UInt32)]) throws -> ColorHistogram {
    var histogram = try ColorHistogram()
    for (color, weight) in colors { histogram.add(color.word, weight: weight) }
    return histogram
  }

  @Test func `few colours are the palette`() throws {
    let colors = (0..<40).map { (number: Int) -> RGBA in
      RGBA(red: UInt8(number % 20 * 12), green: UInt8(255 - number * 4), blue: 3)
    }
    let palette = PaletteFinder.palette(of: try histogram(colors.map { ($0, 1) }), count: 40)
    #expect(Set(palette) == Set(colors.map(\.word)))
  }

  @Test func `a frequent colour is exact among others of its bin`() throws {
    var colors = (0..<2000).map { number in
      (RGBA(red: UInt8(number & 255), green: UInt8(number >> 3), blue: 99), UInt32(1))
    }
    let flat = RGBA(red: 101, green: 102, blue: 103)
    colors.insert((flat, 300), at: 1000)
    let palette = PaletteFinder.palette(of: try histogram(colors), count: 16)
    #expect(palette.contains(flat.word))
  }

  @Test(arguments: [2, 16, 255]) func `more entries come closer`(count: Int) throws {
    let colors = (0..<4096).map { number in
      (
        RGBA(
          red: UInt8(number & 15) * 17, green: UInt8(number >> 4 & 15) * 17,
          blue: UInt8(number >> 8) * 17), UInt32(1)
      )
    }
    func error(_ count: Int) throws -> Int {
      let palette = PaletteFinder.palette(of: try histogram(colors), count: count)
      #expect(palette.count <= count)
      let search = NearestColor(palette)
      return colors.reduce(0) {
        $0 + search.nearest(to: Oklab.Converter.shared.color($1.0.word)).distance
      }
    }
    #expect(try error(count) < error(count / 2))
  }

  @Test func `the nearest colour is the nearest of all`() {
    var state: UInt32 = 7
    func next() -> UInt32 {
      state = state &* 1_664_525 &+ 1_013_904_223
      return state >> 8 | 0xff00_0000
    }
    let palette = (0..<200).map { _ in next() }
    let search = NearestColor(palette)
    let converter = Oklab.Converter.shared
    for _ in 0..<2000 {
      let color = converter.color(next())
      let least = palette.map { converter.color($0).distance(to: color) }.min()
      let (index, distance) = search.nearest(to: color)
      #expect(distance == least && converter.color(palette[index]).distance(to: color) == least)
    }
  }

  /// 64 colours that differ by less than 4 each: one answer cannot suit all of them.
  @Test(arguments: [PaletteMapper.Mixing.none, .light])
  func `neighbouring colours have answers of their own`(
    mixing: PaletteMapper.Mixing
  ) {
    let palette = (0..<8).map { (bits: Int) -> UInt32 in
      RGBA(
        red: UInt8(100 + 3 * (bits & 1)), green: UInt8(80 + 3 * (bits >> 1 & 1)),
        blue: UInt8(60 + 3 * (bits >> 2))
      ).word
    }
    var mapper = PaletteMapper(palette, mixing: mixing)
    let search = NearestColor(palette)
    // Twice, as answers are kept.
    for number in [0..<64, 0..<64].joined() {
      let word = RGBA(
        red: UInt8(100 + (number & 3)), green: UInt8(80 + (number >> 2 & 3)),
        blue: UInt8(60 + (number >> 4))
      ).word
      #expect(
        mapper.choice(word).first == search.nearest(to: Oklab.Converter.shared.color(word)).index)
    }
  }

  /// Entries that are too far away are not tried, so this compares the choice with that among all of them. The colours
  /// are those in the middle of a cell, for which a partner is chosen.
  @Test(arguments: [2, 9, 60, 255], [PaletteMapper.Mixing.light, .full])
  func `no other mixture with the nearest entry comes closer`(
    count: Int, mixing: PaletteMapper.Mixing
  ) {
    for isOpaque in [true, false] {
      checkChoices(count, mixing, isOpaque: isOpaque)
    }
  }

  private func checkChoices(_ count: Int, _ mixing: PaletteMapper.Mixing, isOpaque: Bool) {
    var state = UInt32(count)
    func next() -> UInt32 {
      state = state &* 1_664_525 &+ 1_013_904_223
      return state >> 8 | (isOpaque ? 0xff00_0000 : (state >> 3 & 0xf8 | 1) << 24)
    }
    var mapper = PaletteMapper((0..<count).map { _ in next() }, mixing: mixing)
    func vector(_ word: UInt32) -> SIMD4<Double> {
      SIMD4<Double>(Oklab.Converter.shared.color(word).vector)
    }
    let entries = mapper.palette.map(vector)
    for _ in 0..<300 {
      let word =
        isOpaque ? next() & 0xfffc_fcfc | 0x0002_0202 : next() & 0xf8f0_f8f0 | 0x0408_0408
      guard mapper.index(of: word) == nil else { continue }
      let choice = mapper.choice(word)
      let (color, first) = (vector(word), entries[choice.first])
      func distance(_ entry: SIMD4<Double>) -> Double { ((entry - color) * (entry - color)).sum() }
      #expect(distance(first) == entries.map(distance).min())
      func error(_ second: Int, _ share: Int) -> Double {
        let (step, part) = (entries[second] - first, Double(share) / 64)
        let rest = color - first - step * part
        return (rest * rest).sum()
          + (step * step).sum() * part * (1 - part) * Double(mixing.penalty) / 16
      }
      guard error(choice.first, 0) > Double(mixing.tolerance) else { continue }
      let chosen = error(choice.second, Int(choice.share))
      var least = error(choice.first, 0)
      for second in entries.indices where second != choice.first {
        let step = entries[second] - first
        // The share at which the mean of the mixture comes closest.
        let share = min((step * (color - first)).sum() / (step * step).sum() * 64, 32).rounded()
        if share > 0 { least = min(least, error(second, Int(share))) }
      }
      // The coordinates of a mixture are rounded to integers.
      #expect(chosen <= least + 4 * least.squareRoot() + 8, "\(word)")
    }
  }

  @Test func `a run of equal pixels counts as the pixels one by one`() throws {
    let words: [UInt32] = [
      0, 0xff00_0001, 0xff00_0001, 0xff00_0002, 0xff00_0001, 0x8000_0001, 0x8000_0001, 0,
      0xff00_0002, 0xff00_0002, 0xff00_0002, 0xff00_0002,
    ]
    var (runs, single) = try (ColorHistogram(), ColorHistogram())
    runs.add(words.rawBytes, 1..<words.count)
    for word in words where word >= 0x0100_0000 { single.add(word) }
    #expect(runs.total == single.total && runs.total == 10)
    #expect(runs.points.map(\.color) == single.points.map(\.color))
    #expect(runs.points.map(\.weight) == single.points.map(\.weight))
    #expect(runs.points.map(\.isExact) == single.points.map(\.isExact))
  }

  @Test func `colours of the palette are found as they are`() {
    let palette = (0..<255).map { RGBA(red: UInt8($0), green: UInt8($0 / 2), blue: 9).word }
    let mapper = PaletteMapper(palette, mixing: .full)
    for (index, word) in palette.enumerated() { #expect(mapper.index(of: word) == index) }
    #expect(mapper.index(of: RGBA.black.word) == nil)
  }
}
