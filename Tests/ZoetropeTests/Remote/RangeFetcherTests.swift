import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropeRemote

@Suite(.timeLimit(.minutes(10))) struct RangeFetcherTests {
  private let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

  private func fetcher(_ ranges: CountedRanges, byteLimit: Int = 1 << 20) -> RangeFetcher {
    RangeFetcher(ranges, cache: ByteRangeCache(byteLimit: byteLimit))
  }

  @Test func `kept bytes are not read again, and only a gap is read`() async throws {
    let ranges = CountedRanges(bytes)
    let fetcher = fetcher(ranges)
    #expect(try await fetcher.bytes(in: 100..<200) == Array(bytes[100..<200]))
    #expect(try await fetcher.bytes(in: 120..<180) == Array(bytes[120..<180]))
    #expect(ranges.reads == [100..<200])
    #expect(try await fetcher.bytes(in: 50..<250) == Array(bytes[50..<250]))
    #expect(ranges.reads.count == 3 && Set(ranges.reads.dropFirst()) == [50..<100, 200..<250])
    #expect(try await fetcher.bytes(in: 40..<40) == [])
    #expect(fetcher.statistics == ReadStatistics(readCount: 3, byteCount: 200))
  }

  @Test(arguments: [1, 4, 16])
  func `however many pieces are kept, a request for up to 16 ranges takes up to 16 reads`(
    count: Int
  ) async throws {
    let ranges = CountedRanges(bytes)
    let fetcher = fetcher(ranges)
    let wanted = (0..<count).map { $0 * 6000..<$0 * 6000 + 5000 }
    // Every second stretch of 100 bytes is kept.
    for start in stride(from: 0, to: bytes.count, by: 200) {
      fetcher.cache.set(bytes[start..<start + 100], at: start)
    }
    let found = try await fetcher.bytes(in: wanted)
    #expect(found == wanted.map { Array(bytes[$0]) })
    #expect(ranges.reads.count <= 16)
    // A few of them are read separately.
    ranges.reset()
    fetcher.cache.removeAll()
    for range in wanted { fetcher.cache.set(bytes[range].dropFirst(10), at: range.lowerBound + 10) }
    #expect(try await fetcher.bytes(in: wanted) == found)
    #expect(Set(ranges.reads) == Set(wanted.map { $0.prefix(10) }))
  }

  @Test func `concurrent requests for one range share one read`() async throws {
    let clock = ManualClock()
    let ranges = CountedRanges(bytes, clock: clock)
    let fetcher = fetcher(ranges)
    try await withThrowingTaskGroup(of: [UInt8].self) { group in
      for _ in 0..<10 { group.addTask { try await fetcher.bytes(in: 0..<1000) } }
      group.addTask { try await fetcher.bytes(in: 500..<1000) }
      await clock.waitForSleepers(count: 1)
      await eventually { fetcher.waiterCount == 11 }
      clock.advance(by: .milliseconds(50))
      for try await found in group { #expect(found == Array(bytes[(1000 - found.count)..<1000])) }
    }
    #expect(ranges.reads == [0..<1000])
    #expect(fetcher.flightCount == 0)
  }

  @Test func `an overlapping request reads only what nobody reads yet`() async throws {
    let clock = ManualClock()
    let ranges = CountedRanges(bytes, clock: clock)
    let fetcher = fetcher(ranges)
    async let first = fetcher.bytes(in: 1000..<2000)
    await clock.waitForSleepers(count: 1)
    async let second = fetcher.bytes(in: 500..<2500)
    await clock.waitForSleepers(count: 3)
    #expect(Set(ranges.reads) == [1000..<2000, 500..<1000, 2000..<2500])
    clock.advance(by: .milliseconds(50))
    #expect(try await first == Array(bytes[1000..<2000]))
    #expect(try await second == Array(bytes[500..<2500]))
  }

  @Test func `a read is cancelled when its last waiter leaves`() async throws {
    let clock = ManualClock()
    let ranges = CountedRanges(bytes, clock: clock)
    let fetcher = fetcher(ranges)
    let tasks = (0..<3).map { _ in Task { try await fetcher.bytes(in: 0..<1000) } }
    await eventually { fetcher.waiterCount == 3 }
    await clock.waitForSleepers(count: 1)
    for task in tasks.dropLast() {
      task.cancel()
      let error = await #expect(throws: AnimatedImageError.self) { try await task.value }
      #expect(error?.code == .cancelled)
    }
    #expect(fetcher.flightCount == 1 && ranges.cancelledReads == [])
    tasks[2].cancel()
    _ = await tasks[2].result
    #expect(fetcher.flightCount == 0)
    await eventually { ranges.cancelledReads == [0..<1000] }
    // The next request begins a new read.
    let again = Task { try await fetcher.bytes(in: 0..<1000) }
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .milliseconds(50))
    #expect(try await again.value == Array(bytes[0..<1000]))
    #expect(ranges.reads.count == 2)
  }

  @Test func `reads that fail, or return too few or too many bytes, name the range`()
    async throws
  {
    let ranges = CountedRanges(bytes)
    let fetcher = fetcher(ranges)
    for fault in ReadFault.allCases {
      ranges.answer { try fault.answer($1) }
      let error = await #expect(throws: AnimatedImageError.self) {
        try await fetcher.bytes(in: 300..<400)
      }
      #expect(error?.code == (fault == .quota ? .limitExceeded : .io))
      #expect(error?.byteOffset == 300)
      #expect(error?.detail.contains("300..<400") == true)
      #expect(error?.detail.contains(fault.detail(of: 100)) == true, "\(error?.detail ?? "")")
    }
    ranges.answer(with: nil)
    #expect(try await fetcher.bytes(in: 300..<400) == Array(bytes[300..<400]))
    let outside = await #expect(throws: AnimatedImageError.self) {
      try await fetcher.bytes(in: 99_999..<100_001)
    }
    #expect(outside?.code == .parameter)
    #expect(fetcher.flightCount == 0)
  }

  @Test(arguments: [0, 5000, 1 << 20])
  func `random requests through a cache of any size give the bytes of the file`(
    byteLimit: Int
  ) async throws {
    let ranges = CountedRanges(bytes)
    let fetcher = fetcher(ranges, byteLimit: byteLimit)
    let bytes = bytes
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for seed in 0..<4 {
        group.addTask {
          var random = SplitMix64(seed: UInt64(seed))
          for _ in 0..<300 {
            let asked = (0..<Int.random(in: 1...3, using: &random)).map { _ in
              let start = Int.random(in: 0..<99_000, using: &random)
              return start..<start + Int.random(in: 0...1000, using: &random)
            }
            let found = try await fetcher.bytes(in: asked)
            guard found == asked.map({ Array(bytes[$0]) }) else { return false }
          }
          return true
        }
      }
      for try await isRight in group { #expect(isRight) }
    }
    #expect(fetcher.cache.byteCount <= byteLimit && fetcher.flightCount == 0)
  }

  @Test func `bytes are read ahead of a window that moves, and left when it has gone elsewhere`()
    async throws
  {
    let clock = ManualClock()
    let ranges = CountedRanges(bytes, clock: clock)
    let fetcher = fetcher(ranges)
    let ahead = ReadAhead(fetcher)
    ahead.follow(0..<10_000)
    await clock.waitForSleepers(count: 1)
    #expect(ranges.reads == [0..<10_000])
    // Less than half of the window is missing.
    ahead.follow(4000..<14_000)
    #expect(fetcher.flightCount == 1)
    ahead.follow(6000..<16_000)
    await clock.waitForSleepers(count: 2)
    #expect(ranges.reads == [0..<10_000, 10_000..<16_000])
    // A reader of these bytes shares the read, which is then not cancelled.
    let reader = Task { try await fetcher.bytes(in: 12_000..<12_100) }
    await eventually { fetcher.waiterCount == 1 }
    // Elsewhere: the one that nobody waits for is cancelled.
    ahead.follow(50_000..<60_000)
    await eventually { ranges.cancelledReads == [0..<10_000] }
    await eventually { ranges.reads.count == 3 && clock.deadlines.count == 2 }
    clock.advance(by: .milliseconds(50))
    #expect(try await reader.value == Array(bytes[12_000..<12_100]))
    await eventually { fetcher.flightCount == 0 }
    #expect(fetcher.cache.ranges == [10_000..<16_000, 50_000..<60_000])
    // The rest of the file, however small.
    ahead.follow(95_000..<200_000)
    await clock.waitForSleepers(count: 1)
    #expect(ranges.reads.last == 95_000..<100_000)
    ahead.stop()
    #expect(fetcher.flightCount == 0)
    var other: ReadAhead? = ReadAhead(fetcher)
    other?.follow(0..<5000)
    #expect(fetcher.flightCount == 1)
    other = nil
    #expect(fetcher.flightCount == 0)
  }
}
