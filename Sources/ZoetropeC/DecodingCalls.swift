internal import Synchronization
internal import Zoetrope

/// Runs the calls that decode frames of one animation. They take turns, and return immediately if they are
/// cancelled or time out.
///
/// A decoder checks for cancellation between frames and while it scales. A single frame can take longer than the caller
/// is willing to wait. So calls that may take long run on a separate thread, and after a cancellation the caller stops
/// waiting for it. The thread finishes its frame without touching the caller's memory, and only then ends its turn.
/// Even after a cancellation, only one call decodes at a time.
final class DecodingCalls: Sendable {
  private let timeout: Duration?
  /// Whether a call is having its turn. Everything that calls wait for changes under this lock.
  private let isBusy = Monitor(false)
  fileprivate let cancelCount = Atomic(0)
  private let isCancelled = Atomic(false)

  /// The work from which calls run on a separate thread: some ten milliseconds of decoding.
  static let longCall = 1 << 22

  /// - Parameter timeout: The maximum duration of a call; nil for no limit.
  init(timeout: Duration?) { self.timeout = timeout }

  /// Ends the calls in progress, and those that begin before ``clearCancel()``.
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
  /// Each function of the C API that decodes creates one call, before anything that takes time, so that no ``cancel()``
  /// is lost between its steps.
  ///
  /// - Parameter flag: A flag of the caller that also ends the call.
  /// - Throws: `cancelled` after ``cancel()``, until ``clearCancel()``.
  func begin(_ flag: CallerFlag? = nil) throws(AnimatedImageError) -> DecodingCall {
    let call = DecodingCall(self, timeout: timeout, flag)
    if isCancelled.load(ordering: .relaxed) { throw DecodingCall.cancelled }
    return call
  }

  /// Calls `body` when it is the turn of `call`.
  ///
  /// - Parameter work: An upper bound for the sum of the pixels to decode and the bytes of their data.
  /// - Throws: Errors of `body`; `cancelled` or `timedOut`.
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
    // If no thread can be created, the call runs on this one, and can only end between frames.
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

  /// Waits until `body` returns a value, and returns it. Returns nil if the call times out.
  private func wait<Value>(for call: DecodingCall, _ body: (inout Bool) -> Value?) -> Value? {
    // Flags are polled, because changing one sends no notification.
    while call.hasFlag {
      let next = ContinuousClock.now + .milliseconds(10)
      if let deadline = call.deadline, deadline <= next { break }
      if let value = isBusy.wait(until: next, body) { return value }
    }
    return isBusy.wait(until: call.deadline, body)
  }

  /// Calls `body`, which writes to the caller's memory and must stop soon after `call` is cancelled.
  ///
  /// - Throws: `cancelled` if the caller has returned.
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

  /// The work and result of a call, passed between two threads.
  private final class Work<Value: Sendable>: Sendable {
    private let body: Mutex<(@Sendable () throws(AnimatedImageError) -> Value)?>
    private let result = Mutex<Result<Value, AnimatedImageError>?>(nil)

    init(_ body: @escaping @Sendable () throws(AnimatedImageError) -> Value) {
      self.body = Mutex(body)
    }

    /// Runs the body, and releases what it refers to, such as the animation, before returning.
    func run() {
      guard let body = body.withLock({ $0.take() }) else { return }
      let value = Result { () throws(AnimatedImageError) in try body() }
      result.withLock { $0 = value }
    }

    func takeResult() -> Result<Value, AnimatedImageError>? { result.withLock { $0.take() } }
  }
}

/// A call by the C API's user.
final class DecodingCall: Sendable {
  private let calls: DecodingCalls
  private let cancelCount: Int
  let hasFlag: Bool
  /// Nil once the call has returned, because the flag is in the caller's memory.
  private let flag: Mutex<CallerFlag?>
  let deadline: ContinuousClock.Instant?
  /// Both change under the lock of ``DecodingCalls`` only.
  fileprivate let hasReturned = Atomic(false)
  fileprivate let isWriting = Atomic(false)

  fileprivate init(_ calls: DecodingCalls, timeout: Duration?, _ flag: CallerFlag?) {
    self.calls = calls
    hasFlag = flag != nil
    self.flag = Mutex(flag)
    cancelCount = calls.cancelCount.load(ordering: .acquiring)
    deadline = timeout.map { .now + $0 }
  }

  /// Whether nobody waits for the call any more.
  var isCancelled: Bool {
    if hasReturned.load(ordering: .relaxed) || wasCancelled { return true }
    return deadline.map { $0 <= .now } ?? false
  }

  private var wasCancelled: Bool {
    calls.cancelCount.load(ordering: .relaxed) != cancelCount
      || hasFlag && flag.withLock { $0?.isRaised ?? false }
  }

  fileprivate func forgetFlag() { if hasFlag { flag.withLock { $0 = nil } } }

  /// Throws `cancelled` if nobody waits for the call any more.
  func check() throws(AnimatedImageError) {
    if isCancelled { throw Self.cancelled }
  }

  fileprivate static let cancelled = AnimatedImageError(.cancelled, "the call was cancelled")

  /// The error with which the call ends early.
  var reason: AnimatedImageError {
    wasCancelled
      ? Self.cancelled : AnimatedImageError(.timedOut, "the call took longer than timeout_ns")
  }
}
