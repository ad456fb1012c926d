extension MappedReader.State {
  mutating func step(byteCount: Int) -> MappedReader.Step {
    guard !isStopped, touched < byteCount else { return .end }
    if let range = takeTrail(ofAtLeast: MappedReader.trail) { return .release(range) }
    let start = max(touched, position + MappedReader.blockSize)
    guard start < position + MappedReader.lead else {
      isHelperWaiting = true
      return .wait
    }
    touched = start + MappedReader.blockSize
    return .touch(start..<touched)
  }

  /// Ends the other thread's waiting when half of the lead is used up; says whether it waited.
  ///
  /// Not at every block: waking it takes longer than looking at one. It waits only with ``touched`` a
  /// whole lead ahead and more of the file behind that, so the caller comes to the half of it first.
  mutating func takeWakeUp() -> Bool {
    guard isHelperWaiting, touched - position <= MappedReader.lead / 2 else { return false }
    isHelperWaiting = false
    return true
  }

  /// Ends the work of the other thread; says whether it waited.
  mutating func stop() -> Bool {
    isStopped = true
    defer { isHelperWaiting = false }
    return isHelperWaiting
  }

  /// The pages behind the caller, when they are many.
  mutating func takeTrail(ofAtLeast count: Int) -> Range<Int>? {
    guard position - released >= count else { return nil }
    defer { released = position }
    return released..<position
  }
}
