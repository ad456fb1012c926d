import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10)), .computes) struct RandomFilmTests {
  @Test(arguments: 0..<16)
  func `both decoders show a written film as it was given`(part: Int) throws {
    for seed in UInt64(part * 100)..<UInt64(part * 100 + 100) {
      let film = RandomFilm(seed: seed)
      let problems = try film.problems(of: film.write())
      #expect(problems == [], "seed \(seed)")
    }
  }

  @Test func `the bytes do not depend on the number of threads`() throws {
    for seed in UInt64(5000)..<5100 {
      var film = RandomFilm(seed: seed)
      film.options.parallelism = 1
      let one = try film.write()
      film.options.parallelism = 5
      #expect(try film.write() == one, "seed \(seed)")
    }
  }
}
