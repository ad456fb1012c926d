import Glibc
import SystemPackage
import Zoetrope

import ZoetropeCodec
import ZoetropeCore
import ZoetropeFrames
import ZoetropeTestSupport

/// Cuts and flips whole files and reads what is left: `Mutate FILES-PER-RUN PATH...`
///
/// Each file is cut after every byte (large ones after some hundred, spread evenly) and every byte
/// is turned over in two ways. Nothing may crash or take a second, memory stays within what the file
/// declares, and a cut file keeps every frame that lies whole before the cut, and no fewer than Chromium
/// shows of it (``BrowserRule``).
@main
enum Mutate {
  static func main() throws {
    let places = Int(CommandLine.arguments.dropFirst().first ?? "") ?? 300
    var total = MutationTally()
    for path in CommandLine.arguments.dropFirst(2) {
      let bytes = try FixtureFile.read(path)
      guard let image = try? AnimatedImage(bytes: bytes, options: Self.options) else {
        // No frame to lose, and still nothing that may crash.
        var tally = MutationTally()
        tally.flip(bytes, places: places, path)
        total.add(tally)
        print("\(path): opens as no image; flipped only")
        continue
      }
      var tally = MutationTally()
      tally.cut(bytes, image, places: places, path)
      tally.flip(bytes, places: places, path)
      total.add(tally)
      if tally.slowest > .milliseconds(500) || tally.failures > 0 {
        print("\(path): \(tally)")
      }
    }
    var usage = rusage()
    // 0 is RUSAGE_SELF, whose type Glibc imports as another one than its own call takes.
    unsafe getrusage(0, &usage)
    print("\(total), \(usage.ru_maxrss >> 10) MiB at most")
    exit(total.failures == 0 && total.slowest < .seconds(1) ? 0 : 1)
  }

  static let options = DecodingOptions(parallelism: 1)
}
