import Glibc
import Zoetrope

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropeTestSupport

/// The comparison of one format, and what came of it.
struct PixelRun: CustomStringConvertible {
  let name: String
  /// Where an input goes on which the decoders differ.
  let folder: String
  private(set) var differences = 0
  private var seeds: [[UInt8]] = []
  private var files = 0
  private var tried = 0
  private var unchanged = DecoderComparison()
  private var mutated = DecoderComparison()
  private var time = Duration.zero

  /// Files past this size are compared as they are only: mutations of small ones run in thousands.
  private static let largestSeed = 8192
  /// More than that, and each further one says little.
  private static let mostDifferences = 20

  init(name: String, folder: String) {
    self.name = name
    self.folder = folder
  }

  var description: String {
    let rate = tried * 1000 / max(Int(time / .milliseconds(1)), 1)
    return """
      \(name): \(mutated.opened) mutated inputs of \(tried) opened, \(mutated.frames) frames, \
      \(mutated.brokenFrames) of them broken, \(mutated.reservedCodes) with reserved codes, \(mutated.pixels) pixels the same; \(files) files as \
      they are, \(unchanged.frames) frames; \(differences) differences; \(rate) inputs a second
      """
  }

  /// Compares a file as it is, and keeps it to be changed.
  mutating func take(_ bytes: [UInt8], from path: String) throws(FixtureFileError) {
    files += 1
    if bytes.count <= Self.largestSeed { seeds.append(bytes) }
    for keeps16Bit in [false, true] {
      let options = DecodingOptions(damage: .partialRows, keeps16Bit: keeps16Bit, parallelism: 1)
      if let found = unchanged.difference(in: bytes, options: options) {
        differences += 1
        print("\(path): \(found)")
      }
    }
  }

  /// Changes files until `count` of them have opened.
  mutating func compare(count: Int, first: UInt64) throws(FixtureFileError) {
    guard !seeds.isEmpty else { return }
    let clock = ContinuousClock()
    let start = clock.now
    var number = first
    while mutated.opened < count, differences < Self.mostDifferences {
      var mutator = ByteMutator(seed: number)
      let bytes = mutator.file(seeds[mutator.below(seeds.count)])
      let options = DecoderComparison.options(keeps16Bit: mutator.one(in: 8))
      if let found = mutated.difference(in: bytes, options: options) {
        differences += 1
        print("\(name) \(number): \(found)")
        try FixtureFile.write(bytes, to: "\(folder)/\(number).\(name)")
      }
      tried += 1
      number += 1
      time = clock.now - start
      if tried & 0x3ffff == 0 {
        print(self)
        fflush(nil)
      }
    }
  }
}
