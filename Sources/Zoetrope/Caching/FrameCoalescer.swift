internal import Synchronization

/// Runs the same work once for everybody who asks while it is under way.
///
/// The first to ask for a key starts its work, later ones wait for the same run. A result or an
/// error reaches every waiter and is then forgotten: keeping results is a cache's business, and an
/// error that is kept would outlive its cause. A waiter that is cancelled gets
/// ``AnimatedImageError/Code/cancelled`` at once; when the last one is, the work is cancelled too, and
/// whoever asks next starts afresh.
public final class FrameCoalescer<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// What a run ends with.
  public typealias Outcome = Result<Value, AnimatedImageError>

  private struct Flight: Sendable {
    let number: Int
    var task: Task<Void, Never>?
    var waiters: [Int: CheckedContinuation<Outcome, Never>] = [:]
  }

  private struct State: Sendable {
    var flights: [Key: Flight] = [:]
    var lastNumber = 0
    mutating func nextNumber() -> Int {
      lastNumber += 1
      return lastNumber
    }
  }

  private let state = Mutex(State())

  /// A coalescer with nothing under way.
  public init() {}

  /// Keys whose work is under way.
  public var count: Int { state.withLock { $0.flights.count } }

  /// How many wait for `key`.
  package func waiterCount(for key: Key) -> Int {
    state.withLock { $0.flights[key]?.waiters.count ?? 0 }
  }

  /// The value of `operation`, or of an equal key's run that is already under way.
  ///
  /// `operation` runs in a task of its own, with the priority of whoever asks first.
  public func value(
    for key: Key,
    running operation: @escaping @Sendable () async throws(AnimatedImageError) -> Value
  ) async throws(AnimatedImageError) -> Value {
    let waiter = state.withLock { $0.nextNumber() }
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        join(key, as: waiter, continuation, operation)
      }
    } onCancel: {
      leave(key, waiter)
    }
    return try outcome.get()
  }

  private func join(
    _ key: Key, as waiter: Int, _ continuation: CheckedContinuation<Outcome, Never>,
    _ operation: @escaping @Sendable () async throws(AnimatedImageError) -> Value
  ) {
    let isCancelled = state.withLock { state in
      // Asked under the lock: a cancellation that comes later finds the waiter in `leave`.
      if Task.isCancelled { return true }
      if state.flights[key] == nil {
        let number = state.nextNumber()
        let task = Task { [weak self] in
          let outcome: Outcome
          do throws(AnimatedImageError) { outcome = .success(try await operation()) } catch {
            outcome = .failure(error)
          }
          self?.finish(key, number, outcome)
        }
        state.flights[key] = Flight(number: number, task: task)
      }
      state.flights[key]?.waiters[waiter] = continuation
      return false
    }
    if isCancelled { continuation.resume(returning: Self.cancelled) }
  }

  private func leave(_ key: Key, _ waiter: Int) {
    let (continuation, task) = state.withLock { state in
      guard let continuation = state.flights[key]?.waiters.removeValue(forKey: waiter) else {
        return (nil as CheckedContinuation<Outcome, Never>?, nil as Task<Void, Never>?)
      }
      guard state.flights[key]?.waiters.isEmpty == true else { return (continuation, nil) }
      return (continuation, state.flights.removeValue(forKey: key)?.task)
    }
    task?.cancel()
    continuation?.resume(returning: Self.cancelled)
  }

  private func finish(_ key: Key, _ number: Int, _ outcome: Outcome) {
    let waiters = state.withLock { state in
      // A run whose waiters all left was taken out; the key may by now belong to the next one.
      guard state.flights[key]?.number == number else {
        return [:] as [Int: CheckedContinuation<Outcome, Never>]
      }
      return state.flights.removeValue(forKey: key)?.waiters ?? [:]
    }
    for continuation in waiters.values { continuation.resume(returning: outcome) }
  }

  private static var cancelled: Outcome {
    .failure(AnimatedImageError(.cancelled, "nobody waits for it any more"))
  }
}
