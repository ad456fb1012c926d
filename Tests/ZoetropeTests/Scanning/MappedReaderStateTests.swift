import Testing
import ZoetropeTestSupport

@testable import Zoetrope

/// What the two threads of `MappedReader` do next, decided without either.
@Suite(.timeLimit(.minutes(1))) struct MappedReaderStateTests {
  private static let mebibyte = 1 << 20
  private let size = 100 * mebibyte

  private func range(_ mebibytes: Range<Int>) -> Range<Int> {
    mebibytes.lowerBound * Self.mebibyte..<mebibytes.upperBound * Self.mebibyte
  }

  @Test func `pages are entered one block after the other until the lead is reached`() {
    var state = MappedReader.State()
    for block in 1..<16 {
      let step = state.step(byteCount: size)
      #expect(step == .touch(range(block..<block + 1)))
    }
    let last = state.step(byteCount: size)
    #expect(last == .wait && state.isHelperWaiting)
  }

  @Test func `who waits is woken once, when half of the lead is used up`() {
    var state = MappedReader.State()
    while state.step(byteCount: size) != .wait {}
    for block in 1..<8 {
      state.position = block * Self.mebibyte
      let wakes = state.takeWakeUp()
      #expect(!wakes, "at block \(block)")
    }
    state.position = 8 * Self.mebibyte
    let wakes = [state.takeWakeUp(), state.takeWakeUp()]
    #expect(wakes == [true, false])
    let first = state.step(byteCount: size)
    #expect(first == .release(range(0..<8)))
    for block in 16..<24 {
      let step = state.step(byteCount: size)
      #expect(step == .touch(range(block..<block + 1)))
    }
    let last = state.step(byteCount: size)
    #expect(last == .wait)
  }

  @Test func `the work ends with the last page, or when nobody wants more`() {
    var state = MappedReader.State()
    for _ in 1..<10 { _ = state.step(byteCount: 10 * Self.mebibyte) }
    let last = state.step(byteCount: 10 * Self.mebibyte)
    #expect(last == .end)
    var stopped = MappedReader.State()
    while stopped.step(byteCount: size) != .wait {}
    let wakes = [stopped.stop(), stopped.stop()]
    #expect(wakes == [true, false])
    let next = stopped.step(byteCount: size)
    #expect(next == .end)
  }

  @Test func `a caller who is left alone takes pages out itself`() {
    var state = MappedReader.State()
    state.position = 19 * Self.mebibyte
    let early = state.takeTrail(ofAtLeast: MappedReader.longestTrail)
    state.position = 20 * Self.mebibyte
    let late = state.takeTrail(ofAtLeast: MappedReader.longestTrail)
    let again = state.takeTrail(ofAtLeast: 1)
    #expect([early, late, again] == [nil, range(0..<20), nil])
  }

  /// Steps of both in any order: pages are taken out once and only behind the caller, and who waits is
  /// woken before the caller needs what it waits with.
  @Test(arguments: 0..<200 as Range<UInt64>)
  func `whoever comes first, nobody waits for ever`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var state = MappedReader.State()
    let byteCount = 150 * Self.mebibyte + 77
    var (isWaiting, hasEnded, taken) = (false, false, 0)
    let pace = Int.random(in: 1...20, using: &random)
    for start in stride(from: 0, to: byteCount, by: MappedReader.blockSize) {
      state.position = start
      let wakes = state.takeWakeUp()
      #expect(!wakes || isWaiting)
      if wakes { isWaiting = false }
      if let range = state.takeTrail(ofAtLeast: MappedReader.longestTrail) {
        #expect(range.lowerBound == taken && range.upperBound == start)
        taken = range.upperBound
      }
      #expect(!isWaiting || state.touched > start + MappedReader.lead / 2)
      for _ in 0..<Int.random(in: 0..<pace, using: &random) where !isWaiting && !hasEnded {
        switch state.step(byteCount: byteCount) {
        case .touch(let range): #expect(range.lowerBound > start)
        case .release(let range):
          #expect(range.lowerBound == taken && range.upperBound == start)
          taken = range.upperBound
        case .wait: isWaiting = true
        case .end: hasEnded = true
        }
      }
    }
    let waited = state.stop()
    #expect(waited == isWaiting)
  }
}
