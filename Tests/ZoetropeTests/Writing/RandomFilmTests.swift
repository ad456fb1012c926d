import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10)), .computes) struct RandomFilmTests {
  @Test(arguments: [(AnimationFormat.apng, 100), (.gif, 25)], 0..<16)
  func `both decoders show a written film as it was given`(
    films: (format: AnimationFormat, count: Int), part: Int
  ) throws {
    for seed in UInt64(part * films.count)..<UInt64((part + 1) * films.count) {
      // Optimizing takes ten times as long.
      let problems = try RandomFilm(films.format, seed: seed).problems(optimizing: seed % 8 == 0)
      #expect(problems == [], "seed \(seed)")
    }
  }

  @Test(arguments: [AnimationFormat.apng, .gif], 0..<8)
  func `a reduced film shows what it should, within its limits`(
    format: AnimationFormat, part: Int
  ) throws {
    for seed in UInt64(part * 20)..<UInt64((part + 1) * 20) {
      var random = SplitMix64(seed: seed)
      let problems = try RandomFilm(format, seed: seed).problemsOfReducing {
        Int.random(in: 0..<$0, using: &random)
      }
      #expect(problems == [], "seed \(seed)")
    }
  }

  @Test(arguments: [(AnimationFormat.apng, 100), (.gif, 25)])
  func `the bytes do not depend on the number of threads`(
    films: (format: AnimationFormat, count: Int)
  ) throws {
    for seed in UInt64(5000)..<5000 + UInt64(films.count) {
      var film = RandomFilm(films.format, seed: seed)
      film.options.parallelism = 1
      let one = try film.write()
      film.options.parallelism = 5
      #expect(try film.write() == one, "seed \(seed)")
    }
  }
}
