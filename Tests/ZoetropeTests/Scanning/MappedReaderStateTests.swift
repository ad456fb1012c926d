import TestRunning
import Testing
import ZoetropeTestSupport

@testable import Zoetrope
@testable import ZoetropeCodec
@testable import ZoetropeCore

/// What the two threads of `MappedReader` do next, decided without either.
@Suite(.timeLimit(.minutes(1)), .startsThreads) struct MappedReaderStateTests {
  private typealias Reader = MappedReader<Int>

  @Test func `alone, the caller takes one block after the other as it is`() {
    var state = Reader.State(blockCount: 3)
    for block in 0..<3 {
      let step = state.callerStep(trail: Reader.trail)
      #expect(step == .take(block: block, nil))
    }
    let last = state.callerStep(trail: Reader.trail)
    #expect(last == .end)
  }

  @Test func `who helps looks at the blocks behind the caller's until the lead is reached`() {
    var state = Reader.State(blockCount: 50)
    _ = state.callerStep(trail: Reader.longestTrail)
    for block in 1...Reader.lead {
      let step = state.helperStep(trail: Reader.trail)
      #expect(step == .look(block: block))
    }
    let last = state.helperStep(trail: Reader.trail)
    #expect(last == .wait && state.isHelperWaiting)
  }

  @Test
  func `the caller takes what was seen, looks ahead of who is at its block, waits for nobody`() {
    var state = Reader.State(blockCount: 4)
    _ = state.callerStep(trail: Reader.longestTrail)
    let helps = state.helperStep(trail: Reader.trail)
    let looks = (0..<2).map { _ in state.callerStep(trail: Reader.longestTrail) }
    #expect(helps == .look(block: 1) && looks == [.look(block: 2), .look(block: 3)])
    state.finish(2, 22)
    // Nothing is left to look at, and the other thread is still at block 1.
    let steps = (0..<2).map { _ in state.callerStep(trail: Reader.longestTrail) }
    #expect(steps == [.take(block: 1, nil), .take(block: 2, 22)])
    state.finish(1, 11)
    state.finish(3, 33)
    let last = (0..<2).map { _ in state.callerStep(trail: Reader.longestTrail) }
    #expect(last == [.take(block: 3, 33), .end])
    let end = state.helperStep(trail: Reader.trail)
    #expect(end == .end)
  }

  @Test func `who waits is woken once, when half of the lead is used up`() {
    var state = Reader.State(blockCount: 50)
    _ = state.callerStep(trail: Reader.longestTrail)
    while case .look(let block) = state.helperStep(trail: Reader.trail) {
      state.finish(block, block)
    }
    var wakes: [Int] = []
    for taken in 1...Reader.lead {
      let step = state.callerStep(trail: Reader.longestTrail)
      #expect(step == .take(block: taken, taken))
      if state.takeWakeUp() { wakes.append(taken) }
    }
    #expect(wakes == [Reader.lead / 2])
    let first = state.helperStep(trail: Reader.trail)
    #expect(first == .release(blocks: 0..<Reader.lead))
  }

  @Test func `blocks are taken out behind the caller, by the caller itself when it is left alone`()
  {
    var state = Reader.State(blockCount: 50)
    var steps: [Reader.Step] = []
    for _ in 0..<Reader.longestTrail + 2 {
      steps.append(state.callerStep(trail: Reader.longestTrail))
    }
    #expect(steps.last == .release(blocks: 0..<Reader.longestTrail))
    let next = state.callerStep(trail: Reader.longestTrail)
    #expect(next == .take(block: Reader.longestTrail + 1, nil))
  }

  @Test func `the work ends when nobody wants more`() {
    var state = Reader.State(blockCount: 50)
    while state.helperStep(trail: Reader.trail) != .wait {}
    let wakes = [state.stop(), state.stop()]
    #expect(wakes == [true, false])
    let next = state.helperStep(trail: Reader.trail)
    #expect(next == .end)
  }

  /// Steps of both in any order, each a look or not yet done with one: blocks come in order, each once,
  /// with what was seen in it if anything; pages are taken out once and only behind the caller; the
  /// caller never waits, and who helps does not while there is work in reach.
  @Test(arguments: 0..<200 as Range<UInt64>)
  func `whoever comes first, every block comes once`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let count = Int.random(in: 0..<120, using: &random)
    var state = Reader.State(blockCount: count)
    var (taken, released) = (0, 0)
    // What each is at.
    var looks: [Int?] = [nil, nil]
    var (isWaiting, hasEnded) = (false, false)
    while !hasEnded {
      let who = Int.random(in: 0..<2, using: &random)
      if let block = looks[who] {
        looks[who] = nil
        state.finish(block, block)
        continue
      }
      if who == 1, isWaiting { continue }
      let step =
        who == 0
        ? state.callerStep(trail: Reader.longestTrail) : state.helperStep(trail: Reader.trail)
      if who == 0, state.takeWakeUp() { isWaiting = false }
      switch step {
      case .take(let block, let sight):
        #expect(block == taken && who == 0 && (sight == nil || sight == block))
        taken += 1
      case .look(let block):
        #expect(block >= taken && block < count && looks[1 - who] != block)
        looks[who] = block
      case .release(let blocks):
        #expect(blocks.lowerBound == released && blocks.upperBound < taken)
        released = blocks.upperBound
      case .wait:
        #expect(who == 1)
        isWaiting = true
      case .end: if who == 0 { hasEnded = true }
      }
      #expect(!isWaiting || state.slots.count > Reader.lead / 2 || state.base == count)
    }
    #expect(taken == count)
  }
}
