import Zoetrope

/// Reads and writes of a byte-range cache; `bench-cache ranges` runs only this.
enum RangeBench {
  static func run() {
    hits()
    merges()
  }

  /// Hits of several sizes in a full cache of 64 MiB, at random offsets, beside copying the bytes.
  private static func hits() {
    let cache = ByteRangeCache()
    let total = cache.byteLimit
    let bytes = Array(repeating: UInt8(7), count: 1 << 20)
    for offset in stride(from: 0, to: total, by: bytes.count) { cache.set(bytes, at: offset) }
    precondition(cache.byteCount == total)
    for size in [16, 1 << 10, 1 << 16, 1 << 20] {
      let rounds = max(100, min(100_000, (64 << 20) / size))
      var random = SystemRandomNumberGenerator()
      let starts = (0..<rounds).map { _ in Int.random(in: 0...total - size, using: &random) }
      var found = 0
      let hit = CacheBench.nanoseconds {
        for start in starts { found += cache.data(for: start..<start + size)?.count ?? 0 }
      }
      precondition(found == rounds * size)
      var copied = 0
      let copy = CacheBench.nanoseconds {
        for start in starts {
          let from = start % (bytes.count - size + 1)
          copied += Array(bytes[from..<from + size]).count
        }
      }
      precondition(copied == found)
      CacheBench.report("ranges.hit.\(size)", hit / Double(rounds), "ns")
      CacheBench.report("ranges.copy.\(size)", copy / Double(rounds), "ns")
    }
  }

  /// Filling a file in three orders, by the number of ranges: linear if the time for each stays.
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
        let time = CacheBench.nanoseconds {
          for index in order { cache.set(bytes, at: index * size) }
        }
        precondition(cache.ranges == [0..<count * size])
        CacheBench.report("ranges.set.\(name).\(count)", time / Double(count), "ns")
      }
    }
  }
}
