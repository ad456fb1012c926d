import Synchronization

/// A thread that keeps one core busy.
final class BusyThread: Sendable {
  private let isRunning: Atomic<Bool>

  init(isRunning: Bool) {
    self.isRunning = Atomic(isRunning)
    if isRunning { NativeThread.start { [self] in spin() } }
  }

  func stop() { isRunning.store(false, ordering: .relaxed) }

  private func spin() {
    while isRunning.load(ordering: .relaxed) {}
  }
}
