import TestRunning
import Testing
import Zoetrope
import ZoetropeRemote
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10))) struct ByteRangeCacheTests {
  /// The cache keeps pieces of at most this many bytes.
  private static let block = 1 << 16

  /// A plain array that does what the cache should.
  private struct Model {
    var bytes: [UInt8]
    var isKept: [UInt8]

    init(count: Int) {
      bytes = Array(repeating: 0, count: count)
      isKept = bytes
    }

    mutating func set(_ new: [UInt8], at offset: Int) {
      bytes.replaceSubrange(offset..<offset + new.count, with: new)
      isKept.replaceSubrange(
        offset..<offset + new.count, with: Array(repeating: 1, count: new.count))
    }

    func data(for range: Range<Int>) -> [UInt8]? {
      let isWhole = Array(isKept[range]) == Array(repeating: 1, count: range.count)
      return isWhole ? Array(bytes[range]) : nil
    }

    /// The runs of bytes in `range` that are kept, or that are not.
    func runs(in range: Range<Int>, where isKept: Bool) -> [Range<Int>] {
      var runs: [Range<Int>] = []
      var start: Int?
      for index in range {
        if (self.isKept[index] == 1) == isKept {
          start = start ?? index
        } else if let first = start {
          runs.append(first..<index)
          start = nil
        }
      }
      if let start { runs.append(start..<range.upperBound) }
      return runs
    }
  }

  /// Bytes that differ from those of other seeds, and from each other.
  private static func bytes(_ count: Int, seed: Int) -> [UInt8] {
    let cycle = (0..<251).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ seed &* 13) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count { bytes += cycle.prefix(count - bytes.count) }
    return bytes
  }

  private static func randomRange(
    in count: Int, _ random: inout SplitMix64, longest: Int
  ) -> Range<Int> {
    let length = Int.random(in: 0...longest, using: &random)
    let start = Int.random(in: 0...count - length, using: &random)
    return start..<start + length
  }

  @Test(.computes, arguments: [1, 2, 3]) func `random operations agree with a plain array`(
    seed: UInt64
  ) {
    // Over several blocks, so that ranges begin, end and merge within and across them.
    let count = 5 * Self.block / 2
    var random = SplitMix64(seed: seed)
    var model = Model(count: count)
    let cache = ByteRangeCache()
    for step in 0..<800 {
      let longest = [8, 300, 300, 70_000][Int.random(in: 0..<4, using: &random)]
      let range = Self.randomRange(in: count, &random, longest: longest)
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<55:
        // Adds neighbours and overlaps, which random short ranges would seldom produce.
        let kept = cache.ranges
        let near =
          kept.isEmpty ? 0 : kept[Int.random(in: 0..<kept.count, using: &random)].upperBound
        let offset =
          step.isMultiple(of: 3) && near + range.count <= count ? near : range.lowerBound
        let bytes = Self.bytes(range.count, seed: step)
        cache.set(bytes, at: offset)
        model.set(bytes, at: offset)
      case 55..<98: #expect(cache.data(for: range) == model.data(for: range))
      case 98: #expect(cache.missing(in: range) == model.runs(in: range, where: false))
      default:
        if Int.random(in: 0..<4, using: &random) == 0 {
          cache.removeAll()
          model = Model(count: count)
        }
      }
    }
    #expect(cache.ranges == model.runs(in: 0..<count, where: true))
    #expect(cache.byteCount == cache.ranges.reduce(0) { $0 + $1.count })
    for range in cache.ranges { #expect(cache.data(for: range) == model.data(for: range)) }
  }

  @Test(.computes, arguments: [0, 1, 100, 70_000, 300_000])
  func `a limit is never exceeded, and the kept bytes are right`(limit: Int) {
    let count = 10 * Self.block
    var random = SplitMix64(seed: 7)
    var model = Model(count: count)
    let cache = ByteRangeCache(byteLimit: limit)
    var hits = 0
    for step in 0..<400 {
      let range = Self.randomRange(in: count, &random, longest: 20_000)
      let bytes = Self.bytes(range.count, seed: step)
      cache.set(bytes, at: range.lowerBound)
      model.set(bytes, at: range.lowerBound)
      #expect(cache.byteCount <= limit)
      // The last bytes stored, as far as they lie in one piece, are always among those kept.
      let end = range.upperBound
      let last = end - min(limit, range.count, (end + Self.block - 1) % Self.block + 1)..<end
      #expect(cache.data(for: last) == model.data(for: last))
      let other = Self.randomRange(in: count, &random, longest: 2000)
      if let found = cache.data(for: other) {
        hits += 1
        #expect(found == model.data(for: other))
      }
    }
    #expect(cache.byteCount == cache.ranges.reduce(0) { $0 + $1.count })
    #expect(limit < 300_000 || hits > 5)
  }

  @Test func `neighbours merge, overlaps are stored once, a gap is nil`() {
    let cache = ByteRangeCache()
    cache.set([1, 2, 3], at: 10)
    cache.set([7, 8], at: 16)
    #expect(cache.ranges == [10..<13, 16..<18])
    #expect(cache.data(for: 10..<18) == nil)
    #expect(cache.missing(in: 0..<20) == [0..<10, 13..<16, 18..<20])
    cache.set([4, 5, 6], at: 13)
    #expect(cache.ranges == [10..<18])
    #expect(cache.data(for: 10..<18) == [1, 2, 3, 4, 5, 6, 7, 8])
    cache.set([9, 9], at: 12)
    #expect(cache.byteCount == 8)
    #expect(cache.data(for: 11..<15) == [2, 9, 9, 5])
    #expect(cache.data(for: 40..<40) == [])
    cache.removeAll()
    #expect(cache.ranges == [] && cache.byteCount == 0)
  }

  @Test func `the pieces used least recently are dropped`() {
    let block = Self.block
    let cache = ByteRangeCache(byteLimit: 3 * block)
    for index in 0..<3 {
      cache.set(Array(repeating: UInt8(index), count: block), at: index * block)
    }
    #expect(cache.data(for: 0..<1) == [0])
    cache.set([3], at: 5 * block)
    let kept: [Range<Int>] = [0..<block, (2 * block)..<(3 * block), (5 * block)..<(5 * block + 1)]
    #expect(cache.ranges == kept)
  }

  @Test func `offsets near the largest number do no harm`() {
    let cache = ByteRangeCache()
    cache.set([1, 2, 3], at: .max - 3)
    #expect(cache.data(for: .max - 3 ..< .max) == [1, 2, 3])
    #expect(cache.data(for: 0 ..< .max) == nil)
    #expect(cache.missing(in: 0 ..< .max) == [0 ..< .max - 3])
    #expect(cache.data(for: -5 ..< -1) == nil)
  }

  @Test(.startsThreads) func `threads store, read and remove at the same time`() async {
    let cache = ByteRangeCache(byteLimit: 400_000)
    await withTaskGroup(of: Int.self) { group in
      for seed in 1...4 {
        group.addTask {
          var random = SplitMix64(seed: UInt64(seed))
          var wrong = 0
          for step in 0..<1500 {
            let range = Self.randomRange(in: 1_000_000, &random, longest: 600)
            if step % 500 == 499 {
              cache.removeAll()
            } else if step.isMultiple(of: 2) {
              cache.set(range.map { UInt8(truncatingIfNeeded: $0 &* 31) }, at: range.lowerBound)
            } else if let found = cache.data(for: range),
              found != range.map({ UInt8(truncatingIfNeeded: $0 &* 31) })
            {
              wrong += 1
            }
          }
          return wrong
        }
      }
      for await wrong in group { #expect(wrong == 0) }
    }
    #expect(cache.byteCount <= 400_000)
  }
}
