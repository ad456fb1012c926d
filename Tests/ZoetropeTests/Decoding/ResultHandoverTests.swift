import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

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

  /// Otherwise, a loop over frames would end only once a busy thread is free.
  @Test func `a cancelled task does not wait for a thread`() async throws {
    let threads = DecodeThreads(count: 1)
    let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
    let goesOn = ThreadSignal()
    let busy = Task {
      await threads.result {
        hasBegun.yield()
        goesOn.wait()
      }
    }
    for await _ in begun { break }
    let task = Task {
      try await threads.value { (_) throws(AnimatedImageError) in
        Issue.record("the work has begun")
      }
    }
    while threads.waitingCount == 0 { await Task.yield() }
    task.cancel()
    let error = await #expect(throws: AnimatedImageError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    goesOn.post()
    await busy.value
    #expect(try await threads.value { (_) throws(AnimatedImageError) in 3 } == 3)
  }

  @Test func `frames are decoded while all encoding threads are busy`() async throws {
    let image = try AnimatedImage(
      bytes: DeltaGIF.make(width: 64, height: 48, frameCount: 3, patch: 16))
    let picture = try image.renderStaticBitmap()
    let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
    let goesOn = ThreadSignal()
    let count = DecodeThreads.processorCount
    let busy = (0..<count).map { _ in
      Task {
        await DecodeThreads.encoding.result {
          hasBegun.yield()
          goesOn.wait()
        }
      }
    }
    var beginnings = begun.makeAsyncIterator()
    for _ in 0..<count { await beginnings.next() }
    let encoding = Task { try await PNGEncoder.encode(picture) }
    do {
      // Other tests encode on these threads, too.
      defer { for _ in 0..<count { goesOn.post() } }
      while DecodeThreads.encoding.waitingCount == 0 { await Task.yield() }
      #expect(try await image.bitmap(at: 1).size == image.canvasSize)
      #expect(try await image.bitmaps().first { _ in true } != nil)
    }
    for task in busy { await task.value }
    #expect(try await encoding.value == PNGEncoder().encode(picture))
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
