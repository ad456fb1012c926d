extension DecodeThreads {
  /// Runs `work` on one of the threads of this pool and returns the result of `work`. The flag passed to `work` is
  /// raised when the calling task is cancelled.
  ///
  /// - Throws: `cancelled` immediately if the calling task is cancelled before `work` has begun; otherwise the errors
  ///   of `work`.
  package func value<Value: Sendable>(
    _ work: @escaping @Sendable (CancelFlag) throws(AnimatedImageError) -> Value
  ) async throws(AnimatedImageError) -> Value {
    let result = await cancellableResult { flag in
      Result { () throws(AnimatedImageError) in try work(flag) }
    }
    guard let result else { throw AnimatedImageError(.cancelled, "stopped before decoding") }
    return try result.get()
  }

  /// Like ``value(_:)``, but for work that seldom looks at the flag: throws `cancelled` as soon as the calling task is
  /// cancelled. The result of work that has begun is then discarded.
  ///
  /// - Parameter mayWaitForEver: See ``resultUnlessCancelled(mayWaitForEver:of:)``.
  package func valueUnlessCancelled<Value: Sendable>(
    orThrow cancelled: AnimatedImageError = .init(.cancelled, "stopped before the work was done"),
    mayWaitForEver: @escaping @Sendable () -> Bool = { false },
    _ work: @escaping @Sendable (CancelFlag) throws(AnimatedImageError) -> Value
  ) async throws(AnimatedImageError) -> Value {
    let result = await resultUnlessCancelled(mayWaitForEver: mayWaitForEver) { flag in
      Result { () throws(AnimatedImageError) in try work(flag) }
    }
    guard let result else { throw cancelled }
    return try result.get()
  }
}
