import Dispatch
import Glibc
import TestRunning
import Testing

/// How the tests of this package run beside each other.
@Suite(.timeLimit(.minutes(10)), .startsThreads) struct TestRunningTests {
  @Test func `the number of cases that run at a time is limited`() throws {
    let value = unsafe getenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH")
    let width = try #require(unsafe value.flatMap { unsafe Int(String(cString: $0)) })
    #expect(width > 0)
  }

  @Test func `a case with a thread of its own runs on none of the pool's threads`() async {
    let mine = pthread_self()
    for _ in 0..<100 {
      let other = await Task.detached { pthread_self() }.value
      #expect(other != mine)
    }
  }

  @Test func `blocked test threads leave the pool alone`() async {
    // More than the pool has threads.
    let count = sysconf(Int32(_SC_NPROCESSORS_ONLN)) + 1
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<count {
        group.addTask {
          await TestThread.run {
            let arrival = DispatchSemaphore(value: 0)
            Task.detached { arrival.signal() }
            return arrival.wait(timeout: .now() + 300) == .success
          }
        }
      }
      for await hasArrived in group { #expect(hasArrived) }
    }
  }

  @Test func `turns that are given back go to those who wait`() async {
    let turns = Turns(2)
    await turns.take()
    await turns.take()
    let third = Task { await turns.take() }
    turns.giveBack()
    await third.value
    turns.giveBack()
    await turns.take()
    turns.giveBack()
    turns.giveBack()
  }
}
