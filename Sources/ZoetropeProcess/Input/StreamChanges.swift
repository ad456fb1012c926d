package import Zoetrope

/// A blocking sequence of the states of a stream: first the current state, then the state after every change.
///
/// A state that lasts for a tenth of a second is delivered a second time, so that a display that skips some states when
/// they change quickly still shows the last one. The sequence ends after the stream's final state. A signal that ends
/// the process cancels the stream, which keeps the frames that have arrived (see ``Signals``).
package final class StreamChanges: Sequence, IteratorProtocol {
  private let latest = Monitor<StreamProgress?>(nil)
  private let tasks: [Task<Void, Never>]
  private var seen: StreamProgress?
  /// Whether the state in ``seen`` is to be delivered once more.
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

  /// Makes the sequence deliver the current state again after a tenth of a second. A caller uses this while its display
  /// of that state is still changing.
  package func repeatSoon() { isNew = true }

  /// Waits for the next state and returns it.
  package func next() -> StreamProgress? {
    guard seen?.ending == nil else { return nil }
    let pause = isNew ? ContinuousClock.now + .milliseconds(100) : nil
    let change = latest.wait(until: pause) { [seen] in $0 == seen ? nil : $0 }
    isNew = change != nil
    if let change { seen = change }
    return seen
  }
}
