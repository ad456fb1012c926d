package import Zoetrope

/// The progress of a stream for a thread that blocks: each change, beginning with the present state.
///
/// A state that has lasted a tenth of a second comes once more, so that a display that skips quick changes
/// shows the last. Ends after a state with an ending. A signal that asks for the end cancels the stream,
/// which keeps the frames that have arrived (see ``Signals``).
package final class StreamChanges: Sequence, IteratorProtocol {
  private let latest = Monitor<StreamProgress?>(nil)
  private let tasks: [Task<Void, Never>]
  private var seen: StreamProgress?
  /// Whether ``seen`` has not come twice.
  private var isNew = false

  package init(of image: StreamedImage) {
    let updates = Task { [latest] in
      for await progress in image.updates { latest.update { $0 = progress } }
    }
    let signals = Task {
      while Signals.ending == nil {
        do { try await Task.sleep(for: .milliseconds(100)) } catch { return }
      }
      image.cancel()
    }
    tasks = [updates, signals]
  }

  deinit { for task in tasks { task.cancel() } }

  /// Makes the state just taken come once more after a tenth of a second, though it has come twice: what
  /// the caller shows beside it is still changing.
  package func repeatSoon() { isNew = true }

  /// Waits for the next state.
  package func next() -> StreamProgress? {
    guard seen?.ending == nil else { return nil }
    let pause = isNew ? ContinuousClock.now + .milliseconds(100) : nil
    let change = latest.wait(until: pause) { [seen] in $0 == seen ? nil : $0 }
    isNew = change != nil
    if let change { seen = change }
    return seen
  }
}
