import Glibc
import Zoetrope

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropeTestSupport

/// Compares the fast decoders with giflib and libpng on mutated files, so many of each format:
///
///     FuzzPixels COUNT FIRST FORMATS FOLDER PATH...
///
/// FORMATS is `gif`, `apng` or `gif,apng`. Input number N is one of the files or of some films of noise,
/// chosen and changed by the seed N alone, so `FuzzPixels 1 N` repeats it. Only inputs that open count. No coverage guides the choice: what libFuzzer finds, this
/// counts. An input on which the decoders differ goes to FOLDER, and the status is 1.
@main
enum FuzzPixels {
  private static let beginnings = ["gif": "GIF", "apng": "\u{89}PN"]

  static func main() throws {
    var arguments = CommandLine.arguments.dropFirst()
    guard let count = arguments.popFirst().flatMap({ Int($0) }),
      let first = arguments.popFirst().flatMap({ UInt64($0) }),
      let formats = arguments.popFirst()?.split(separator: ",").map(String.init),
      Set(formats).isSubset(of: beginnings.keys), let folder = arguments.popFirst()
    else {
      print("usage: FuzzPixels COUNT FIRST gif,apng FOLDER PATH...")
      exit(2)
    }
    try FixtureFile.makeFolder(folder)
    var differences = 0
    for name in formats {
      guard let beginning = beginnings[name] else { continue }
      let start = Array(beginning.unicodeScalars.map { UInt8($0.value) })
      var run = PixelRun(name: name, folder: folder)
      for path in arguments {
        let bytes = try FixtureFile.read(path)
        if bytes.starts(with: start) { try run.take(bytes, from: path) }
      }
      for film in (0..<4).flatMap({ SeedFilms.make(seed: $0) }) where film.starts(with: start) {
        try run.take(film, from: "a film of noise")
      }
      try run.compare(count: count, first: first)
      print(run)
      differences += run.differences
    }
    exit(differences == 0 ? 0 : 1)
  }
}
