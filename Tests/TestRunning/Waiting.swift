/// Returns when `condition` holds, or when the task is cancelled, which a time limit does.
///
/// For states of the code under test that nothing announces: checks every millisecond, and occupies no thread in
/// between.
public func eventually(_ condition: () -> Bool) async {
  while !condition() {
    do { try await Task.sleep(for: .milliseconds(1)) } catch { return }
  }
}

/// Returns when the task is cancelled.
public func cancellation() async {
  let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
  for await _ in stream {}
  // A stream whose continuation is gone might end.
  withExtendedLifetime(continuation) {}
}
