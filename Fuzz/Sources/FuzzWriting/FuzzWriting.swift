import FuzzSupport
import Zoetrope

@testable import ZoetropeTestSupport

/// Random films, written in random ways and then optimized, scaled and reduced, beside what both decoders show of the
/// files.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWriting(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var choices = FuzzChoices(unsafe FuzzBytes.copy(data, count))
  // Films of bytes that run out would all be the same: the first ones seed the rest.
  var random = SplitMix64(
    seed: (0..<4).reduce(0) { seed, _ in seed << 16 | UInt64(choices.word()) })
  let below = { (limit: Int) in
    choices.isEmpty ? Int.random(in: 0..<limit, using: &random) : choices.below(limit)
  }
  let film = RandomFilm(choices.byte() & 1 == 0 ? .apng : .gif, below: below)
  do {
    let problems = try film.problems(optimizing: true) + film.problemsOfReducing(below: below)
    FuzzBytes.require(problems.isEmpty, "\(problems)")
  } catch {
    fatalError("\(error)")
  }
  return 0
}
