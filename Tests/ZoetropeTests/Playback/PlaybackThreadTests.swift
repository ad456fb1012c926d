import Synchronization
import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropePlayback

/// The timer itself, on the system's clock: what is asserted holds however slow the machine is.
@Suite(.timeLimit(.minutes(10)), .serialized) struct PlaybackThreadTests {
  /// Not the shared one, which the playbacks of tests that run at the same time keep busy.
  private static let own = PlaybackThread()
  private let thread = Self.own

  /// Records when it was called, and why.
  private final class Caller: PlaybackThread.Client {
    private let obsolete = Atomic(false)
    private let deadline: ContinuousClock.Instant
    private let calls: AsyncStream<(Bool, PlaybackThread.Cause)>.Continuation

    init(
      _ deadline: ContinuousClock.Instant,
      _ calls: AsyncStream<(Bool, PlaybackThread.Cause)>.Continuation
    ) {
      self.deadline = deadline
      self.calls = calls
    }

    var isObsolete: Bool { obsolete.load(ordering: .acquiring) }

    func goOn(after cause: PlaybackThread.Cause) {
      calls.yield((ContinuousClock.now >= deadline, cause))
    }

    func becomeObsolete() { obsolete.store(true, ordering: .releasing) }
  }

  @Test func `everybody is called, the earliest first, and nobody before the deadline`() async {
    let (calls, continuation) = AsyncStream.makeStream(of: (Bool, PlaybackThread.Cause).self)
    let start = ContinuousClock.now
    for wait in [5, 1, 3, 4, 2, 0, -1] {
      let deadline = start.advanced(by: .milliseconds(wait * 2))
      thread.call(Caller(deadline, continuation), at: deadline)
    }
    var count = 0
    for await (isInTime, cause) in calls {
      #expect(isInTime && cause == .deadline)
      count += 1
      if count == 7 { break }
    }
    #expect(count == 7)
  }

  @Test func `without a thread, a stand-in calls clients and runs tasks`() async {
    let attempts = Atomic<Int>(0)
    let thread = PlaybackThread { _ in
      attempts.add(1, ordering: .relaxed)
      return false
    }
    // Twice, since the stand-in leaves when there is nothing more to do.
    for _ in 0..<2 {
      let (calls, continuation) = AsyncStream.makeStream(of: (Bool, PlaybackThread.Cause).self)
      thread.call(Caller(.now, continuation), after: .start)
      var iterator = calls.makeAsyncIterator()
      #expect(await iterator.next()?.1 == .start)
      for wait in [20, 10] {
        let deadline = ContinuousClock.now.advanced(by: .milliseconds(wait))
        thread.call(Caller(deadline, continuation), at: deadline)
      }
      for _ in 0..<2 {
        let call = await iterator.next()
        #expect(call?.0 == true && call?.1 == .deadline)
      }
      let sum = await Task(executorPreference: thread) {
        await Task.yield()
        return 1 + 1
      }.value
      #expect(sum == 2)
    }
    let count = attempts.load(ordering: .relaxed)
    #expect(count >= 2)
  }

  @Test func `the thread takes over from its stand-in as soon as it starts`() async {
    let attempts = Atomic<Int>(0)
    let thread = PlaybackThread { body in
      attempts.add(1, ordering: .relaxed).newValue > 3 && startThread(running: body)
    }
    let (calls, continuation) = AsyncStream.makeStream(of: (Bool, PlaybackThread.Cause).self)
    // Keeps the stand-in waiting.
    let late = Caller(.now.advanced(by: .seconds(3600)), continuation)
    thread.call(late, at: .now.advanced(by: .seconds(3600)))
    await eventually { attempts.load(ordering: .relaxed) > 3 }
    let isThread = await Task(executorPreference: thread) {
      thread.offer({}, lasting: .zero) { true }
    }.value
    #expect(isThread)
    thread.call(Caller(.now, continuation), after: .signal)
    for await (_, cause) in calls {
      #expect(cause == .signal)
      break
    }
    thread.remove(late)
    let count = attempts.load(ordering: .relaxed)
    #expect(count == 4)
  }

  @Test func `an obsolete client is forgotten at once, whenever it became so`() async {
    let (calls, continuation) = AsyncStream.makeStream(of: (Bool, PlaybackThread.Cause).self)
    weak var early: Caller?
    weak var late: Caller?
    do {
      let deadline = ContinuousClock.now.advanced(by: .seconds(3600))
      let callers = (Caller(deadline, continuation), Caller(deadline, continuation))
      (early, late) = callers
      callers.0.becomeObsolete()
      thread.call(callers.0, at: deadline)
      thread.call(callers.1, at: deadline)
      callers.1.becomeObsolete()
      thread.remove(callers.1)
    }
    // The thread may hold them for a moment, which is not until their deadline.
    await eventually { early == nil && late == nil }
    #expect(early == nil)
    #expect(late == nil)
    thread.call(Caller(.now, continuation), after: .signal)
    for await (_, cause) in calls {
      #expect(cause == .signal)
      break
    }
  }

  @Test func `work offered from elsewhere is not taken`() {
    let isTaken = thread.offer({ Issue.record("not to be run") }, lasting: .zero) { true }
    #expect(!isTaken)
  }

  @Test func `work offered by the thread itself is done by it, when there is time for it`() async {
    let thread = thread
    let (done, continuation) = AsyncStream.makeStream(of: Bool.self)
    let taken = await Task(executorPreference: thread) {
      thread.offer({ continuation.yield(true) }, lasting: .zero) { true }
    }.value
    #expect(taken)
    for await isDone in done {
      #expect(isDone)
      break
    }
  }

  @Test func `a playback on the system's clock is paused, moved, sped up and resumed`() async throws
  {
    let scheduler = FrameScheduler(sharing: PaintedFrames.tenths(6), options: .everyFrame)
    var frames = scheduler.play().stream.makeAsyncIterator()
    #expect(await frames.next()?.index == 0)
    scheduler.pause()
    scheduler.rate = 20
    try scheduler.seek(toFrame: 4)
    // Frame 1 may have been on its way.
    var frame = await frames.next()
    while let early = frame, early.seekCount == 0 { frame = await frames.next() }
    #expect(frame?.index == 4 && scheduler.state == .paused)
    scheduler.resume()
    let last = await frames.next()
    #expect(last?.index == 5 && last?.duration == .milliseconds(5))
    #expect(await frames.next() == nil)
    #expect(scheduler.state == .finished)
  }
}
