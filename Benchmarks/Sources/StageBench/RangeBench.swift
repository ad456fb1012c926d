import Zoetrope
import ZoetropeCore

/// Measures reads and writes of a byte-range cache. `bench-stages ranges` runs only this.
enum RangeBench {
  static func run() {
    hits()
    merges()
  }

  /// Compares hits of several sizes in a full cache of 64 MiB, at random offsets, with copying the same ranges of
  /// another block of 64 MiB into fresh arrays.
  private static func hits() {
    let cache = ByteRangeCache()
    let total = cache.byteLimit
    let source = (0..<total).map { UInt8(truncatingIfNeeded: $0 / 4096) }
    let piece = 1 << 20
    for offset in stride(from: 0, to: total, by: piece) {
      cache.set(Array(source[offset..<offset + piece]), at: offset)
    }
    precondition(cache.byteCount == total)
    for size in [16, 1 << 10, 1 << 16, 1 << 20] {
      let rounds = max(100, min(100_000, (64 << 20) / size))
      var random = SystemRandomNumberGenerator()
      let starts = (0..<rounds).map { _ in Int.random(in: 0...total - size, using: &random) }
      var (hits, copies): ([Double], [Double]) = ([], [])
      // Alternate, so that both see the same clock frequency and the same load.
      for _ in 0..<5 {
        var (found, copied) = (0, 0)
        hits.append(
          nanoseconds {
            for start in starts { found += use(cache.data(for: start..<start + size) ?? []) }
          })
        copies.append(
          nanoseconds {
            for start in starts { copied += use(Self.copy(of: source, at: start, count: size)) }
          })
        precondition(found == copied)
      }
      let (hit, copy) = (hits.sorted()[hits.count / 2], copies.sorted()[copies.count / 2])
      report("ranges.hit.\(size)", hit / Double(rounds), "ns")
      report("ranges.copy.\(size)", copy / Double(rounds), "ns")
    }
  }

  private static func report(_ name: String, _ value: Double, _ unit: String) {
    print(name, (value * 10).rounded() / 10, unit)
  }

  private static func nanoseconds(_ body: () -> Void) -> Double {
    ContinuousClock().measure(body) / .nanoseconds(1)
  }

  /// Returns a fresh array of bytes. Not inlined, because the compiler would drop the copy if it saw its use.
  @inline(never) private static func copy(
    of source: [UInt8], at start: Int, count: Int
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    bytes.append(contentsOf: source[start..<start + count])
    return bytes
  }

  /// Reads the first and the last byte, so that the compiler keeps `bytes`.
  @inline(never) private static func use(_ bytes: [UInt8]) -> Int {
    Int(bytes.first ?? 0) + Int(bytes.last ?? 0)
  }

  /// Measures filling a file in three orders, by the number of ranges. It is linear if the time per range stays the
  /// same.
  private static func merges() {
    let size = 1000
    let bytes = Array(repeating: UInt8(7), count: size)
    for count in [1000, 8000, 64_000] {
      let orders: [(String, [Int])] = [
        ("forward", Array(0..<count)), ("backward", Array((0..<count).reversed())),
        ("shuffled", (0..<count).shuffled()),
      ]
      for (name, order) in orders {
        let cache = ByteRangeCache()
        let time = Self.nanoseconds {
          for index in order { cache.set(bytes, at: index * size) }
        }
        precondition(cache.ranges == [0..<count * size])
        report("ranges.set.\(name).\(count)", time / Double(count), "ns")
      }
    }
  }
}
