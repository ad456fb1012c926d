import Testing

@testable import ZoetropeTerminal

@Suite(.timeLimit(.minutes(10)))
struct LinkFenceTests {
  @Test func `the third frame waits for the first answer`() {
    var fence = LinkFence(isEnabled: true)
    var now = Duration.zero
    for _ in 0..<2 {
      #expect(fence.isOpen(at: now))
      fence.didWrite(byteCount: 6000, at: now)
      now += .milliseconds(40)
    }
    #expect(!fence.isOpen(at: now) && fence.unansweredCount == 2)
    now = .milliseconds(100)
    fence.didAnswer(at: now)
    #expect(fence.isOpen(at: now))
    now = .milliseconds(200)
    fence.didAnswer(at: now)
    #expect(abs((fence.bytesPerSecond ?? 0) - 60_000) < 1)
  }

  @Test func `missing answers stop nothing for long`() {
    var fence = LinkFence(isEnabled: true)
    fence.didWrite(byteCount: 10, at: .zero)
    fence.didWrite(byteCount: 10, at: .zero)
    #expect(!fence.isOpen(at: .seconds(2)))
    #expect(fence.isOpen(at: .seconds(4)))
    fence.didWrite(byteCount: 10, at: .seconds(4))
    #expect(fence.unansweredCount == 1 && fence.isOpen(at: .seconds(4)))
    fence.didAnswer(at: .seconds(5))
    fence.didAnswer(at: .seconds(5))
    #expect(fence.unansweredCount == 0)
  }

  @Test func `a terminal that does not answer is never waited for`() {
    var fence = LinkFence(isEnabled: false)
    for _ in 0..<9 { fence.didWrite(byteCount: 10, at: .zero) }
    #expect(fence.isOpen(at: .zero))
  }

  @Test func `a slow link shows frames that are at most two old`() {
    // 60 KB a second, frames of 11 KB every 20 ms: without a fence 8 s of them take 73 s.
    var fence = LinkFence(isEnabled: true)
    var free = Duration.zero
    var answers: [Duration] = []
    var worst = Duration.zero
    var shown = 0
    for frame in 0..<400 {
      let now = Duration.milliseconds(20 * frame)
      while let first = answers.first, first <= now {
        fence.didAnswer(at: answers.removeFirst())
        _ = first
      }
      guard fence.isOpen(at: now) else { continue }
      fence.didWrite(byteCount: 11_000, at: now)
      free = max(free, now) + .milliseconds(183)
      answers.append(free)
      worst = max(worst, free - now)
      shown += 1
    }
    // Once the rate is known, a frame that takes so long goes alone.
    #expect(worst <= .milliseconds(370) && (40...50).contains(shown))
  }

  @Test func `a known rate keeps the next frame until the link is nearly free`() {
    var fence = LinkFence(isEnabled: true)
    fence.didWrite(byteCount: 6000, at: .zero)
    fence.didAnswer(at: .milliseconds(100))
    fence.didWrite(byteCount: 5000, at: .milliseconds(100))
    #expect(fence.isOpen(at: .milliseconds(101)))
    fence.didAnswer(at: .milliseconds(184))
    fence.didWrite(byteCount: 12_000, at: .milliseconds(200))
    #expect(!fence.isOpen(at: .milliseconds(201)) && fence.opening == .milliseconds(3200))
  }

  @Test func `a long round trip is not mistaken for a narrow link`() {
    var fence = LinkFence(isEnabled: true, latency: .milliseconds(150))
    for start in [0, 160, 320] {
      fence.didWrite(byteCount: 6000, at: .milliseconds(start))
      #expect(fence.isOpen(at: .milliseconds(start + 1)))
      fence.didAnswer(at: .milliseconds(start + 151))
    }
    #expect((fence.bytesPerSecond ?? 0) > 5_000_000)
  }
}
