import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeWriting

/// The search for settings that fit a number of bytes, on encoders that are formulas.
@Suite(.timeLimit(.minutes(10))) struct BudgetSearchTests {
  private typealias Settings = BudgetSearch.Settings

  /// The outcome of a search.
  private struct Outcome {
    var chosen: Settings?
    var byteCount: Int?
    var least: Int?
    var encoded: [Settings] = []
    var sampleCount = 0
  }

  private static let allLevers = BudgetSearch.Levers(
    mayBeThorough: true, hasColors: true, rates: [24, 20, 15, 12, 10],
    percents: [90, 80, 71, 63, 56, 50, 45, 40, 35, 30, 25, 20])

  private static func run(
    limit: Int, levers: BudgetSearch.Levers = allLevers, lossless: Int? = nil,
    estimate: ((Settings) -> Int?)? = nil, _ size: (Settings) -> Int?
  ) throws -> Outcome {
    var search = BudgetSearch(
      limit: limit, levers: levers, least: lossless, isLossless: lossless != nil)
    var outcome = Outcome()
    var sizes: [Settings: Int] = [:]
    while outcome.encoded.count + outcome.sampleCount < 1000 {
      switch search.step {
      case .sample(let settings):
        outcome.sampleCount += 1
        if let estimate { search.take(estimate(settings)) } else { search.take(size(settings)) }
      case .encode(let settings):
        outcome.encoded.append(settings)
        let byteCount = size(settings)
        sizes[settings] = byteCount
        search.take(byteCount)
      case .finish(let settings):
        outcome.chosen = settings
        let byteCount: Int = try #require(sizes[settings], "it was not encoded")
        outcome.byteCount = byteCount
        return outcome
      case .fail(let least):
        outcome.least = least
        return outcome
      }
    }
    Issue.record("the search does not end")
    return outcome
  }

  /// A film of a million bytes, which each lever reduces by a usual amount.
  private static func film(_ settings: Settings) -> Int {
    var size = 1_000_000.0
    if settings.isThorough { size *= 0.97 }
    size /= 1 + Double(settings.tolerance) / 40
    if let colors = settings.colors { size *= colors == 128 ? 0.85 : colors == 64 ? 0.7 : 0.55 }
    if let rate = settings.rate { size *= Double(rate) / 30 }
    return Int(size * Double(settings.percent * settings.percent) / 10_000)
  }

  @Test(arguments: [1_000_000, 985_000, 900_000, 500_000, 250_000, 120_000, 50_000, 10_000])
  func `a film gets below the limit, and close to it`(limit: Int) throws {
    let outcome = try Self.run(limit: limit, Self.film)
    let byteCount = try #require(outcome.byteCount)
    #expect(byteCount <= limit && outcome.encoded.count <= 6)
    #expect(byteCount * 10 >= limit * 9, "\(byteCount) of \(limit)")
  }

  @Test func `nothing is given up that need not be`() throws {
    #expect(try Self.run(limit: 1_000_000, Self.film).chosen == Settings())
    let thorough = try #require(try Self.run(limit: 975_000, Self.film).chosen)
    #expect(thorough.isThorough && thorough.tolerance == 0)
    let similar = try #require(try Self.run(limit: 600_000, Self.film).chosen)
    #expect(similar.tolerance > 0 && similar.colors == nil && similar.rate == nil)
    #expect(try #require(try Self.run(limit: 230_000, Self.film).chosen).percent == 100)
    #expect(try #require(try Self.run(limit: 50_000, Self.film).chosen).rate == 10)
  }

  @Test(arguments: [900_000, 400_000, 200_000, 150_000, 80_000])
  func `a film of true colour gives up colours before frames`(limit: Int) throws {
    let levers = BudgetSearch.Levers(
      mayBeThorough: true, hasColors: true, isTrueColor: true, rates: [15, 10], percents: [])
    let outcome = try Self.run(limit: limit, levers: levers) { settings in
      var fewer = settings
      if settings.colors == 256 { fewer.colors = nil }
      return Int(Double(Self.film(fewer)) * (settings.colors == nil ? 1 : 0.6))
    }
    let (chosen, byteCount) = (try #require(outcome.chosen), try #require(outcome.byteCount))
    #expect(byteCount <= limit && outcome.encoded.count <= 6)
    #expect(byteCount * 10 >= limit * 9, "\(byteCount) of \(limit)")
    #expect((chosen.colors == nil) == (limit == 900_000) && chosen.percent == 100)
    #expect((chosen.rate == nil) == (limit > 100_000), "\(chosen)")
  }

  @Test(arguments: [60_000, 80_000, 150_000])
  func `pictures keep their size if fewer frames fit, even if scaled ones take more bytes`(
    limit: Int
  ) throws {
    // Scaling gives flat pictures many colours.
    let outcome = try Self.run(limit: limit) { settings in
      Self.film(settings) * (settings.percent < 100 ? 6 : 1)
    }
    let (chosen, byteCount) = (try #require(outcome.chosen), try #require(outcome.byteCount))
    #expect(chosen.percent == 100)
    #expect(byteCount <= limit && outcome.encoded.count <= 6)
    #expect(byteCount * 10 >= limit * 9, "\(byteCount) of \(limit)")
  }

  /// A film whose pictures are dithered, and so take more bytes, once they have fewer colours, and of which samples
  /// with all colours seem to take twice as many bytes as the file.
  private static func dithered(_ settings: Settings) -> Int {
    guard let colors = settings.colors else { return film(settings) }
    var exact = settings
    exact.colors = nil
    return Int(Double(film(exact)) * (colors == 128 ? 1.7 : colors == 64 ? 1.4 : 0.9))
  }

  @Test(arguments: [60_000, 90_000, 120_000, 200_000, 300_000, 450_000, 700_000])
  func `the limit is used where fewer colours take more bytes`(limit: Int) throws {
    let outcome = try Self.run(
      limit: limit, estimate: { Self.dithered($0) * ($0.colors == nil ? 2 : 1) }, Self.dithered)
    let byteCount = try #require(outcome.byteCount)
    #expect(byteCount <= limit && outcome.encoded.count <= 6)
    #expect(byteCount * 10 >= limit * 8, "\(byteCount) of \(limit): \(outcome.encoded)")
  }

  @Test(arguments: [350_000, 500_000, 900_000])
  func `where fewer colours are enough, they stay as they are`(limit: Int) throws {
    let levers = BudgetSearch.Levers(
      mayBeThorough: true, hasColors: true, isTrueColor: true, rates: [15, 10], percents: [])
    let outcome = try Self.run(limit: limit, levers: levers) {
      $0.colors == nil ? 1_000_000 : 320_000
    }
    let chosen = try #require(outcome.chosen)
    #expect(chosen.colors == 256 && chosen.tolerance == 0 && chosen.rate == nil)
  }

  @Test(arguments: [45_000, 55_000, 100_000, 170_000, 230_000])
  func `files that are larger than samples do not end in tiny pictures`(limit: Int) throws {
    let outcome = try Self.run(
      limit: limit, estimate: { Self.film($0) * ($0.rate == 10 ? 7 : 10) / 10 }, Self.film)
    let byteCount = try #require(outcome.byteCount)
    #expect(byteCount <= limit && outcome.encoded.count <= 6)
    #expect(byteCount * 10 >= limit * 7, "\(byteCount) of \(limit): \(outcome.encoded)")
  }

  /// A recording of a terminal: scaling adds colours, so that a slightly smaller picture takes more bytes, and files are
  /// half as large again as samples promise.
  @Test(arguments: [90_000, 130_000, 170_000, 210_000, 250_000])
  func `pictures that scaling makes larger do not end tiny`(limit: Int) throws {
    func size(_ settings: Settings) -> Int {
      Self.film(settings) * (settings.percent < 100 ? 18 : 10) / 10
    }
    let outcome = try Self.run(limit: limit, estimate: { size($0) * 13 / 20 }, size)
    let byteCount = try #require(outcome.byteCount)
    #expect(byteCount <= limit && outcome.encoded.count <= 6)
    #expect(byteCount * 10 >= limit * 6, "\(byteCount) of \(limit): \(outcome.encoded)")
  }

  @Test func `levers that do not exist are not used`() throws {
    let levers = BudgetSearch.Levers(
      mayBeThorough: false, hasColors: false, rates: [10], percents: [])
    let outcome = try Self.run(limit: 400_000, levers: levers, Self.film)
    var fewer = Settings()
    fewer.rate = 10
    #expect(outcome.chosen == fewer)
    let failed = try Self.run(limit: 10_000, levers: levers, Self.film)
    #expect(failed.chosen == nil && (failed.least ?? 0) > 10_000 && failed.encoded.count <= 6)
  }

  @Test(arguments: 0..<200)
  func `colours that may not change leave fewer frames and smaller pictures`(seed: UInt64) throws {
    var levers = Self.allLevers
    levers.hasColors = false
    let limit = 40_000 + Int(Self.noise(Settings(), seed) * 900_000)
    for lossless in [Int?.none, Self.film(Settings())] {
      let outcome = try Self.run(
        limit: limit, levers: levers, lossless: lossless,
        estimate: { Int(Double(Self.film($0)) * (0.8 + 0.4 * Self.noise($0, seed ^ 99))) },
        Self.film)
      let byteCount = try #require(outcome.byteCount)
      #expect(byteCount <= limit && outcome.encoded.count <= 6)
      #expect(Set(outcome.encoded).count == outcome.encoded.count, "\(outcome.encoded)")
      #expect(outcome.encoded.allSatisfy { $0.tolerance == 0 && $0.colors == nil })
    }
  }

  /// Colours are the only lever.
  private static let onlyColors = BudgetSearch.Levers(
    mayBeThorough: true, hasColors: true, rates: [], percents: [])

  @Test(arguments: [150_000, 120_000, 100_000])
  func `where only colours may change, they change as much as necessary`(limit: Int) throws {
    let outcome = try Self.run(limit: limit, levers: Self.onlyColors, Self.film)
    let (chosen, byteCount) = (try #require(outcome.chosen), try #require(outcome.byteCount))
    #expect(byteCount <= limit && byteCount * 10 >= limit * 9, "\(byteCount) of \(limit)")
    #expect(chosen.tolerance > 100 && outcome.encoded.count <= 6)
  }

  /// Patterns that repeat, which similar colours break up.
  private static func patterned(_ settings: Settings) -> Int {
    var exact = settings
    exact.tolerance = 0
    return film(exact) + 2000 * settings.tolerance
  }

  @Test(arguments: [(900_000, 128), (750_000, 64), (600_000, 32)])
  func `where similar colours save nothing, pictures only have fewer colours`(
    limit: Int, colors: Int
  ) throws {
    let outcome = try Self.run(limit: limit, Self.patterned)
    var expected = Settings()
    expected.colors = colors
    #expect(outcome.chosen == expected && outcome.encoded.count <= 2)
    for lossless in [Int?.none, Self.patterned(Settings())] {
      for limit in [960_000, 840_000, 620_000, 400_000] {
        let encoded = try Self.run(limit: limit, lossless: lossless, Self.patterned).encoded
        #expect(Set(encoded).count == encoded.count && encoded.count <= 3, "\(limit): \(encoded)")
        #expect(lossless == nil || !encoded.contains(Settings()), "\(limit)")
      }
    }
    // If few colours are not enough, there are fewer frames.
    #expect(try Self.run(limit: 540_000, Self.patterned).chosen?.rate == 24)
  }

  /// Seeds with which the mildest rung of a stage fits, although its sample was too large.
  @Test(arguments: [209, 476, 497, 805, 962] as [UInt64])
  func `a file that is much smaller than its sample ends the search for fewer colours`(
    seed: UInt64
  ) throws {
    let limit = 40_000 + Int(Self.noise(Settings(), seed) * 900_000)
    let outcome = try Self.run(
      limit: limit,
      estimate: { Int(Double(Self.patterned($0)) * (0.8 + 0.6 * Self.noise($0, seed ^ 99))) },
      Self.patterned)
    let byteCount = try #require(outcome.byteCount)
    #expect(byteCount <= limit && outcome.encoded.count <= 6)
    #expect(byteCount * 10 >= limit * 8, "\(byteCount) of \(limit)")
  }

  /// Flat pictures, which similar colours make larger.
  private static func flat(_ settings: Settings) -> Int {
    (settings.colors == nil ? 433_000 : 389_000) + 500 * settings.tolerance
  }

  /// Gradients, which few colours make larger, because they are dithered.
  private static func gradient(_ settings: Settings) -> Int {
    (settings.colors == nil ? 1_000_000 : 1_400_000) - 2500 * settings.tolerance
  }

  @Test func `the extremes of each lever by itself are tried before the search fails`() throws {
    for (size, limit) in [
      (Self.flat, 400_000), (Self.gradient, 530_000), (Self.gradient, 850_000),
      (Self.gradient, 890_000),
    ] {
      let outcome = try Self.run(limit: limit, levers: Self.onlyColors, size)
      #expect((outcome.byteCount ?? .max) <= limit && outcome.encoded.count <= 6)
      #expect((outcome.byteCount ?? 0) * 10 >= limit * 9, "\(outcome.encoded)")
      // A failure names the smallest file, even if estimates are poor.
      for percent in [92, 100, 108] {
        let failed = try Self.run(
          limit: limit / 4, levers: Self.onlyColors,
          estimate: { size($0) * ($0.tolerance > 0 ? percent : 100) / 100 }, size)
        #expect(failed.chosen == nil && failed.encoded.count <= 3)
        var (few, many) = (Settings(), Settings())
        (few.colors, few.tolerance, many.tolerance) = (32, 0, 200)
        #expect((failed.least ?? .max) <= min(size(few), size(many)))
      }
    }
  }

  @Test(arguments: [240_000, 300_000, 420_000, 590_000])
  func `the greatest tolerance is not taken if a milder one fits`(limit: Int) throws {
    // Fewer colours are dithered and take more bytes, so that only the greatest tolerance promises to fit.
    let outcome = try Self.run(limit: limit, levers: Self.onlyColors) {
      ($0.colors == nil ? 1_000_000 : 1_800_000) - 4000 * $0.tolerance
    }
    let (chosen, byteCount) = (try #require(outcome.chosen), try #require(outcome.byteCount))
    #expect(chosen.colors == nil && chosen.tolerance < 200, "\(chosen)")
    #expect(outcome.encoded.count <= 6 && Set(outcome.encoded).count == outcome.encoded.count)
    #expect(byteCount <= limit && byteCount * 10 >= limit * 9, "\(byteCount) of \(limit)")
  }

  @Test func `a known lossless file is not encoded again, and may be the smallest`() throws {
    let lossless = Self.flat(Settings())
    let outcome = try Self.run(
      limit: 100_000, levers: Self.onlyColors, lossless: lossless
    ) { lossless + $0.tolerance + ($0.colors == nil ? 0 : 1000) }
    #expect(outcome.least == lossless && !outcome.encoded.contains(Settings()))
    // It is a little too large, so more effort is tried first.
    let near = try Self.run(
      limit: 420_000, levers: Self.onlyColors, lossless: lossless, Self.flat)
    #expect(near.encoded.first?.isThorough == true)
  }

  @Test func `an encoder that never fits ends the search`() throws {
    for size in [Int?.none, 5000, .max] {
      let outcome = try Self.run(limit: 100) { _ in size }
      #expect(outcome.chosen == nil && outcome.least == size && outcome.encoded.count <= 6)
      #expect(outcome.sampleCount <= 40)
    }
    #expect(try Self.run(limit: 0) { _ in 1 }.chosen == nil)
  }

  @Test func `an encoder of one size is taken as it is`() throws {
    let outcome = try Self.run(limit: 100) { _ in 7 }
    #expect(outcome.chosen == Settings() && outcome.encoded.count == 1 && outcome.sampleCount == 1)
  }

  @Test func `estimates that are far off cost encodes, but never the limit`() throws {
    for (percent, limit) in [(30, 400_000), (60, 400_000), (170, 400_000), (300, 90_000)] {
      let outcome = try Self.run(
        limit: limit, estimate: { Self.film($0) * percent / 100 }, Self.film)
      let byteCount = try #require(outcome.byteCount, "\(percent) %")
      #expect(byteCount <= limit && outcome.encoded.count <= 6)
      #expect(byteCount * 10 >= limit * 7, "\(percent) %: \(byteCount) of \(limit)")
    }
  }

  /// A number from 0 to 1 that depends on the settings alone.
  private static func noise(_ settings: Settings, _ seed: UInt64) -> Double {
    var state = seed &+ 0x9e37_79b9_7f4a_7c15
    for number in [
      settings.isThorough ? 1 : 0, settings.tolerance, settings.colors ?? 0, settings.rate ?? 0,
      settings.percent,
    ] {
      state = (state ^ UInt64(number)) &* 0xbf58_476d_1ce4_e5b9
      state ^= state >> 29
    }
    return Double(state >> 11) / Double(1 << 53)
  }

  @Test(arguments: 0..<200)
  func `sizes in no order at all never lead past the limit`(seed: UInt64) throws {
    let limit = 100_000
    let outcome = try Self.run(limit: limit) { settings in
      let noise = Self.noise(settings, seed)
      return noise > 0.97 ? nil : Int(400_000 * noise * noise)
    }
    #expect(outcome.encoded.count <= 6 && outcome.sampleCount <= 40)
    if let byteCount = outcome.byteCount { #expect(byteCount <= limit) }
  }

  @Test(arguments: 0..<200)
  func `sizes with noise lead below the limit`(seed: UInt64) throws {
    let limit = 40_000 + Int(Self.noise(Settings(), seed) * 900_000)
    let outcome = try Self.run(
      limit: limit,
      estimate: { Int(Double(Self.film($0)) * (0.85 + 0.3 * Self.noise($0, seed ^ 99))) }
    ) { Int(Double(Self.film($0)) * (0.96 + 0.08 * Self.noise($0, seed))) }
    let byteCount = try #require(outcome.byteCount)
    #expect(byteCount <= limit && outcome.encoded.count <= 6)
    #expect(byteCount * 10 >= limit * 8, "\(byteCount) of \(limit)")
  }
}
