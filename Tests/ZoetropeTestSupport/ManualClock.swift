internal import Synchronization

#if SANITIZE_THREAD
  internal import Zoetrope
#endif

/// A clock whose time stands still until a test advances it.
///
/// Code that uses the clock never waits for real time. A test calls ``waitForSleepers(count:)`` to wait until the code
/// under test has gone to sleep, and then ``advance(by:)``, which wakes every sleeper that is due, the earliest first.
///
/// ```swift
/// let clock = ManualClock()
/// let task = Task { try await clock.sleep(until: clock.now.advanced(by: .seconds(1))) }
/// await clock.waitForSleepers(count: 1)
/// clock.advance(by: .seconds(1))
/// try await task.value
/// ```
///
/// With ``Mode/jumping`` the clock advances by itself: every sleep ends immediately, at its deadline. Hours of
/// playback then take moments, with exact times, as long as only one task sleeps at a time.
public final class ManualClock: Clock, Sendable {
  /// A moment of a manual clock.
  public struct Instant: InstantProtocol, Sendable, Hashable {
    /// The time since the clock was made.
    public var offset: Duration

    /// The moment `offset` after the clock was created.
    public init(offset: Duration) { self.offset = offset }

    /// The moment `duration` later.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// The time from this moment to `other`; negative if `other` is earlier.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Whether the first is the earlier moment.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  /// Who moves the clock.
  public enum Mode: Sendable {
    /// The test, by ``ManualClock/advance(by:)`` and ``ManualClock/advance(to:)``.
    case manual
    /// Every sleep, to its deadline.
    case jumping
  }

  private struct Sleeper {
    let id: Int
    let deadline: Instant
    let continuation: CheckedContinuation<Bool, Never>
  }

  /// What a test waits for.
  private enum Goal {
    case count(Int)
    case deadline(Instant, count: Int)
  }

  private struct Watcher {
    let id: Int
    let goal: Goal
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var now = Instant(offset: .zero)
    var nextID = 0
    /// In the order in which they went to sleep.
    var sleepers: [Sleeper] = []
    var watchers: [Watcher] = []

    func meets(_ goal: Goal) -> Bool {
      switch goal {
      case .count(let count): sleepers.count >= count
      case .deadline(let deadline, let count):
        sleepers.count { $0.deadline == deadline } >= count
      }
    }

    /// Removes the watchers whose goal is met; the caller resumes them after releasing the lock.
    mutating func reachedWatchers() -> [CheckedContinuation<Void, Never>] {
      let all = watchers
      watchers = all.filter { !meets($0.goal) }
      return all.filter { meets($0.goal) }.map(\.continuation)
    }
  }

  private let mode: Mode
  private let state = Mutex(State())

  /// A clock at offset zero.
  public init(_ mode: Mode = .manual) { self.mode = mode }

  /// The moment it shows.
  public var now: Instant { state.withLock { $0.now } }

  /// The resolution of the clock: unlimited.
  public var minimumResolution: Duration { .zero }

  /// The deadlines of all sleepers, the earliest first.
  public var deadlines: [Instant] { state.withLock { $0.sleepers.map(\.deadline).sorted() } }

  /// Sleeps until the clock reaches `deadline`; throws `CancellationError` if the task is cancelled.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try Task.checkCancellation()
    if mode == .jumping {
      state.withLock { $0.now = max($0.now, deadline) }
      return
    }
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    let wokeUp = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // Nothing is resumed under the lock: resuming takes the task's own lock, which `cancel()`
        // holds while it calls the handler below.
        let (wakesUp, watchers) = state.withLock {
          state -> (Bool?, [CheckedContinuation<Void, Never>]) in
          if Task.isCancelled { return (false, []) }
          if deadline <= state.now { return (true, []) }
          state.sleepers.append(Sleeper(id: id, deadline: deadline, continuation: continuation))
          return (nil, state.reachedWatchers())
        }
        if let wakesUp { continuation.resume(returning: wakesUp) }
        for watcher in watchers { watcher.resume() }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        state.sleepers.firstIndex(where: { $0.id == id }).map { state.sleepers.remove(at: $0) }
      }
      sleeper?.continuation.resume(returning: false)
    }
    if !wokeUp { throw CancellationError() }
  }

  /// Returns when at least `count` sleepers are asleep.
  ///
  /// Also returns if the task is cancelled, so that a time limit can end a test that waits in vain.
  public func waitForSleepers(count: Int) async { await reach(.count(count)) }

  /// Returns when a task sleeps until exactly `offset` after the clock was created.
  ///
  /// Unlike ``waitForSleepers(count:)``, this method distinguishes a task that went to sleep again from one that is
  /// still asleep. Also returns if the task is cancelled.
  public func waitForSleeper(until offset: Duration) async {
    await waitForSleepers(count: 1, until: offset)
  }

  /// Returns when at least `count` tasks sleep until exactly `offset` after the clock was created.
  ///
  /// Also returns if the task is cancelled.
  public func waitForSleepers(count: Int, until offset: Duration) async {
    await reach(.deadline(Instant(offset: offset), count: count))
  }

  private func reach(_ goal: Goal) async {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if Task.isCancelled || state.meets(goal) { return true }
          state.watchers.append(Watcher(id: id, goal: goal, continuation: continuation))
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let watcher = state.withLock { state in
        state.watchers.firstIndex { $0.id == id }.map { state.watchers.remove(at: $0) }
      }
      watcher?.continuation.resume()
    }
  }

  /// Advances the clock by `duration`, and wakes every sleeper whose deadline is reached.
  public func advance(by duration: Duration) { advance(to: now.advanced(by: duration)) }

  /// Advances the clock by `duration`, from one deadline to the next, as real time would.
  ///
  /// ``advance(by:)`` jumps: a task that should have slept ten times in that time wakes once, late. This method waits
  /// at every deadline until `sleepers` tasks sleep again. If a task ends instead of going back to sleep, it waits
  /// forever, or until the calling task is cancelled.
  public func advance(by duration: Duration, stepping sleepers: Int) async {
    let end = now.advanced(by: duration)
    while !Task.isCancelled {
      await self.waitForSleepers(count: sleepers)
      guard let next = deadlines.first, next <= end else { break }
      advance(to: next)
    }
    advance(to: end)
  }

  /// Advances the clock from one deadline to the next until `body` returns, without waiting for
  /// real time.
  ///
  /// Waits at each deadline until `sleepers` tasks sleep, so that none is overtaken. Once fewer tasks sleep, `body`
  /// must return by itself.
  public func run<Value: Sendable>(
    sleepers: Int = 1, until body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await withThrowingTaskGroup(of: Value?.self) { group in
      group.addTask { try await body() }
      group.addTask { [self] in
        while !Task.isCancelled {
          await self.waitForSleepers(count: sleepers)
          if let next = deadlines.first { advance(to: next) }
        }
        return nil
      }
      defer { group.cancelAll() }
      while let value = try await group.next() { if let value { return value } }
      preconditionFailure("the first task returns a value or throws")
    }
  }

  /// Advances the clock to `instant`, and wakes every sleeper whose deadline is reached, the earliest first.
  ///
  /// The time is already `instant` when the first of them runs. Does nothing if `instant` has passed.
  public func advance(to instant: Instant) {
    let due = state.withLock { state in
      state.now = max(state.now, instant)
      let now = state.now
      defer { state.sleepers.removeAll { $0.deadline <= now } }
      return state.sleepers.filter { $0.deadline <= now }.sorted { $0.deadline < $1.deadline }
    }
    for sleeper in due { sleeper.continuation.resume(returning: true) }
  }
}
