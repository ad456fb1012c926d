import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

@Suite(.timeLimit(.minutes(10))) struct ResultHandoverTests {
  @Test func `a result is handed to the task that waits for it`() async {
    let threads = DecodeThreads(count: 1)
    for number in 0..<100 {
      #expect(await threads.resultUnlessCancelled { _ in number } == number)
    }
  }

  @Test func `a cancelled task does not wait for work that has begun`() async {
    let threads = DecodeThreads(count: 1)
    let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
    let goesOn = ThreadSignal()
    let task = Task {
      await threads.resultUnlessCancelled { _ in
        hasBegun.yield()
        goesOn.wait()
        return 1
      }
    }
    for await _ in begun { break }
    task.cancel()
    #expect(await task.value == nil)
    // Only now may the work end; its result is for nobody, and the thread takes other work.
    goesOn.post()
    #expect(await threads.resultUnlessCancelled { _ in 2 } == 2)
  }

  @Test func `no work begins for a task that was cancelled before`() async {
    let threads = DecodeThreads(count: 1) { _ in
      Issue.record("a thread was started")
      return false
    }
    let task = Task {
      await cancellation()
      return await threads.resultUnlessCancelled { _ in 1 }
    }
    task.cancel()
    #expect(await task.value == nil)
  }

  @Test func `no work begins for a task that is cancelled while its work is started`() async {
    // Without a thread, the work runs in a task of its own, and often before this one has gone on.
    let threads = DecodeThreads(count: 1) { _ in
      unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
      return false
    }
    for _ in 0..<20_000 {
      let task = Task {
        await threads.resultUnlessCancelled { _ in
          Issue.record("the work has begun")
        }
      }
      #expect(await task.value == nil)
    }
  }

  @Test func `the second result is dropped`() async {
    let first = ResultHandover<Int>()
    first.close(with: 1)
    first.close(with: nil)
    #expect(await first.valueUnlessCancelled() == 1)
    let second = ResultHandover<Int>()
    second.close(with: nil)
    second.close(with: 1)
    #expect(await second.valueUnlessCancelled() == nil)
  }

  @Test func `a thread does not wait for cancelled work that cannot be interrupted`() {
    let (goesOn, hasEnded) = (ThreadSignal(), ThreadSignal())
    var looks = 0
    let isCancelled = {
      looks += 1
      return looks == 3
    }
    let result = resultOnThread(unless: isCancelled) { flag in
      goesOn.wait()
      defer { hasEnded.post() }
      return flag.isRaised
    }
    #expect(result == nil)
    #expect(looks == 3)
    goesOn.post()
    hasEnded.wait()
    #expect(resultOnThread(unless: { false }) { $0.isRaised } == false)
  }
}
