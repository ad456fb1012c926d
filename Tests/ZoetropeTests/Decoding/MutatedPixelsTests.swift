import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

/// A short form of `make differential`: mutated files, the fast decoders beside giflib and libpng.
@Suite(.timeLimit(.minutes(10)), .computes) struct MutatedPixelsTests {
  static let films = (0..<2).flatMap { SeedFilms.make(seed: $0) }

  @Test(arguments: [false, true])
  func `films of noise give the same pixels both ways`(keeps16Bit: Bool) {
    var comparison = DecoderComparison()
    for film in Self.films {
      let options = DecodingOptions(keeps16Bit: keeps16Bit, parallelism: 1)
      #expect(comparison.difference(in: film, options: options) == nil)
    }
    #expect(comparison.opened == Self.films.count && comparison.brokenFrames == 0)
  }

  @Test(arguments: [AnimationFormat.gif, .apng])
  func `600 mutated files give the same pixels both ways`(format: AnimationFormat) {
    let films = FixtureTests.recipes.map(\.bytes).filter { $0.count <= 4096 } + Self.films
    let seeds = films.filter { ($0.first == 0x47) == (format == .gif) }
    var comparison = DecoderComparison()
    var number: UInt64 = 0
    while comparison.opened < 600, number < 10_000 {
      var mutator = ByteMutator(seed: number)
      let bytes = mutator.file(seeds[mutator.below(seeds.count)])
      let options = DecoderComparison.options(keeps16Bit: mutator.one(in: 8))
      let found = comparison.difference(in: bytes, options: options)
      #expect(found == nil, "input \(number)")
      number += 1
    }
    #expect(comparison.opened == 600 && comparison.brokenFrames > 60 && comparison.pixels > 30_000)
  }
}
