import Glibc
import Zoetrope
import ZoetropeTestSupport

/// Writes random films and compares what both decoders show of them with the model. Without a fuzzer's instrumentation,
/// this is several times as fast as `FuzzWriting`.
///
///     check-films COUNT [SEED] [write|optimize|reduce|all]
///
/// Prints the seeds of films that are wrong, and fails if there are any.
@main
enum CheckFilms {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let count = arguments.first.flatMap({ UInt64($0) }) else { fatalError("COUNT [SEED]") }
    let start = arguments.dropFirst().first.flatMap { UInt64($0) } ?? 0
    let kind = arguments.dropFirst(2).first ?? "all"
    var failures = 0
    for seed in start..<start + count {
      var random = SplitMix64(seed: seed)
      let below = { (limit: Int) in Int.random(in: 0..<limit, using: &random) }
      var film = RandomFilm(seed & 1 == 0 ? .apng : .gif, below: below)
      // All cores are used by several processes.
      if below(8) > 0 { film.options.parallelism = 1 }
      var problems: [String] = []
      do {
        if kind != "reduce" { problems += try film.problems(optimizing: kind != "write") }
        if kind == "reduce" || kind == "all" {
          problems += try film.problemsOfReducing(below: below)
        }
      } catch {
        problems.append("\(error)")
      }
      if !problems.isEmpty {
        failures += 1
        print("seed \(seed): \(problems)")
      }
    }
    print("\(count) films from seed \(start), \(kind): \(failures) wrong")
    exit(failures == 0 ? 0 : 1)
  }
}
