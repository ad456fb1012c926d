internal import Synchronization
internal import Zoetrope

/// Runs the calls that decode frames of one animation. Calls take turns. A call that is cancelled or times out returns
/// immediately.
///
/// A decoder checks for cancellation between frames and while it scales, but a single frame can take longer than the
/// caller is willing to wait. So a call that may take long runs on a separate thread, and after a cancellation the
/// caller stops waiting for that thread. The thread finishes its frame without touching the caller's memory, and only
/// then ends its turn. Even after a cancellation, only one call decodes at a time.
final class DecodingCalls: Sendable {
  private let timeout: Duration?
  /// Whether a call has its turn. Any state that a call waits for is changed only under the lock of this monitor.
  private let isBusy = Monitor(false)
  fileprivate let cancelCount = Atomic(0)
  private let isCancelled = Atomic(false)

  /// The minimum amount of work for which a call runs on a separate thread. Decoding that much takes about ten
  /// milliseconds.
  static let longCall = 1 << 22

  /// Creates an object without calls.
  ///
  /// - Parameter timeout: The maximum duration of each call, or nil for no limit.
  init(timeout: Duration?) { self.timeout = timeout }

  /// Cancels the calls in progress, and all calls that begin before ``clearCancel()`` is called.
  func cancel() {
    isBusy.update { _ in
      isCancelled.store(true, ordering: .relaxed)
      // A call that sees the new count also sees the flag.
      cancelCount.add(1, ordering: .releasing)
    }
  }

  func clearCancel() { isCancelled.store(false, ordering: .relaxed) }

  /// Returns a call that begins now.
  ///
  /// Each function of the C API that decodes creates one call. It does so before any step that takes time, so that a
  /// ``cancel()`` between two steps is not lost.
  ///
  /// - Parameter flag: A flag in the caller's memory that also cancels the call, or nil.
  /// - Throws: `cancelled` after ``cancel()`` was called, until ``clearCancel()`` is called.
  func begin(_ flag: CallerFlag? = nil) throws(AnimatedImageError) -> DecodingCall {
    let call = DecodingCall(self, timeout: timeout, flag)
    if isCancelled.load(ordering: .relaxed) { throw DecodingCall.cancelled }
    return call
  }

  /// Waits for the turn of `call`, calls `body`, and returns its result.
  ///
  /// - Parameter work: An upper bound for the number of pixels to decode plus the number of bytes of their data.
  /// - Throws: the errors of `body`; `cancelled`; `timedOut`.
  func run<Value: Sendable>(
    _ call: DecodingCall, work bound: Int,
    _ body: @escaping @Sendable () throws(AnimatedImageError) -> Value
  ) throws(AnimatedImageError) -> Value {
    defer { call.forgetFlag() }
    let hasTurn = wait(for: call) { isBusy -> Bool? in
      if call.isCancelled { return false }
      if isBusy { return nil }
      isBusy = true
      return true
    }
    guard hasTurn == true else { throw call.reason }
    let work = Work(body)
    let run: @Sendable () -> Void = { [self] in
      work.run()
      isBusy.update { $0 = false }
    }
    // If no thread can be created, the call runs on the current thread, and can be cancelled only between frames.
    if bound < Self.longCall || !startThread(running: run) { run() }
    let result = wait(for: call) { _ -> Result<Value, AnimatedImageError>? in
      if let result = work.takeResult() { return result }
      return call.isCancelled ? .failure(DecodingCall.cancelled) : nil
    }
    switch result {
    case .success(let value): return value
    case .failure(let error) where error.code != .cancelled: throw error
    case .failure, nil:
      isBusy.update { _ in call.hasReturned.store(true, ordering: .relaxed) }
      isBusy.wait { _ in call.isWriting.load(ordering: .relaxed) ? nil : () }
      throw call.reason
    }
  }

  /// Waits until `body` returns a value, and returns that value. Returns nil if the call times out.
  private func wait<Value>(for call: DecodingCall, _ body: (inout Bool) -> Value?) -> Value? {
    // Poll the caller's flag, because a change of the flag sends no notification.
    while call.hasFlag {
      let next = ContinuousClock.now + .milliseconds(10)
      if let deadline = call.deadline, deadline <= next { break }
      if let value = isBusy.wait(until: next, body) { return value }
    }
    return isBusy.wait(until: call.deadline, body)
  }

  /// Calls `body`, which writes to the caller's memory. `body` must stop soon after `call` is cancelled.
  ///
  /// - Throws: `cancelled` if the call has already returned to its caller, or is cancelled or times out meanwhile.
  func write(_ call: DecodingCall, _ body: () -> Void) throws(AnimatedImageError) {
    let mayWrite = isBusy.update { _ in
      let mayWrite = !call.hasReturned.load(ordering: .relaxed)
      call.isWriting.store(mayWrite, ordering: .relaxed)
      return mayWrite
    }
    guard mayWrite else { throw DecodingCall.cancelled }
    body()
    isBusy.update { _ in call.isWriting.store(false, ordering: .relaxed) }
    try call.check()
  }

  /// The work and the result of a call, which are passed between two threads.
  private final class Work<Value: Sendable>: Sendable {
    private let body: Mutex<(@Sendable () throws(AnimatedImageError) -> Value)?>
    private let result = Mutex<Result<Value, AnimatedImageError>?>(nil)

    init(_ body: @escaping @Sendable () throws(AnimatedImageError) -> Value) {
      self.body = Mutex(body)
    }

    /// Runs the body, and releases the objects that it refers to, such as the animation, before returning.
    func run() {
      guard let body = body.withLock({ $0.take() }) else { return }
      let value = Result { () throws(AnimatedImageError) in try body() }
      result.withLock { $0 = value }
    }

    func takeResult() -> Result<Value, AnimatedImageError>? { result.withLock { $0.take() } }
  }
}

/// One call of a C function that decodes frames.
final class DecodingCall: Sendable {
  private let calls: DecodingCalls
  private let cancelCount: Int
  let hasFlag: Bool
  /// The caller's flag. It is nil once the call has returned, because the flag is in the caller's memory.
  private let flag: Mutex<CallerFlag?>
  let deadline: ContinuousClock.Instant?
  /// Whether the call has returned to its caller. Changes only under the lock of ``DecodingCalls``.
  fileprivate let hasReturned = Atomic(false)
  /// Whether the call is writing to the caller's memory. Changes only under the lock of ``DecodingCalls``.
  fileprivate let isWriting = Atomic(false)

  fileprivate init(_ calls: DecodingCalls, timeout: Duration?, _ flag: CallerFlag?) {
    self.calls = calls
    hasFlag = flag != nil
    self.flag = Mutex(flag)
    cancelCount = calls.cancelCount.load(ordering: .acquiring)
    deadline = timeout.map { .now + $0 }
  }

  /// Whether the call was cancelled, has timed out or has returned, so that its result is no longer needed.
  var isCancelled: Bool {
    if hasReturned.load(ordering: .relaxed) || wasCancelled { return true }
    return deadline.map { $0 <= .now } ?? false
  }

  private var wasCancelled: Bool {
    calls.cancelCount.load(ordering: .relaxed) != cancelCount
      || hasFlag && flag.withLock { $0?.isRaised ?? false }
  }

  fileprivate func forgetFlag() { if hasFlag { flag.withLock { $0 = nil } } }

  /// Throws `cancelled` if the result of the call is no longer needed.
  func check() throws(AnimatedImageError) {
    if isCancelled { throw Self.cancelled }
  }

  fileprivate static let cancelled = AnimatedImageError(
    .cancelled, "stopped before the call finished")

  /// The error with which the call ends early: `cancelled` or `timedOut`.
  var reason: AnimatedImageError {
    wasCancelled
      ? Self.cancelled : AnimatedImageError(.timedOut, "the call took longer than timeout_ns")
  }
}
