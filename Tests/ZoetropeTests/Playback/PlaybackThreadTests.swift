import Testing

@testable import Zoetrope

/// The timer itself, on the system's clock: what is asserted holds however slow the machine is.
@Suite(.timeLimit(.minutes(1))) struct PlaybackThreadTests {
  private let thread = PlaybackThread.shared

  @Test func `everybody wakes, and nobody before the deadline`() async {
    let start = ContinuousClock.now
    let thread = thread
    await withTaskGroup(of: Bool.self) { group in
      for wait in [5, 1, 3, 4, 2, 0, -1] {
        let deadline = start.advanced(by: .milliseconds(wait * 2))
        group.addTask(executorPreference: thread) {
          await thread.sleep(until: deadline)
          return ContinuousClock.now >= deadline
        }
      }
      var count = 0
      for await isInTime in group {
        #expect(isInTime)
        count += 1
      }
      #expect(count == 7)
    }
  }

  @Test func `cancelling wakes a sleeper at once`() async {
    let thread = thread
    let task = Task(executorPreference: thread) {
      await thread.sleep(until: .now.advanced(by: .seconds(3600)))
      return Task.isCancelled
    }
    task.cancel()
    #expect(await task.value)
  }

  @Test func `work offered from elsewhere is not taken`() {
    let isTaken = thread.offer({ Issue.record("not to be run") }, lasting: .zero)
    #expect(!isTaken)
  }

  @Test func `work offered by the thread itself is done by it, when there is time for it`() async {
    let thread = thread
    let (done, continuation) = AsyncStream.makeStream(of: Bool.self)
    let taken = await Task(executorPreference: thread) {
      thread.offer({ continuation.yield(true) }, lasting: .zero)
    }.value
    #expect(taken)
    for await isDone in done {
      #expect(isDone)
      break
    }
  }
}
