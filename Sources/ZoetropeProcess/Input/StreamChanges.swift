package import Zoetrope

/// A blocking sequence of the states of a stream: the current state, then every change.
///
/// A state that lasts for a tenth of a second is delivered a second time, so that a display that skips quick changes
/// shows the last one. The sequence ends after the stream's final state. A signal that ends the process cancels the
/// stream, which keeps the frames that have arrived (see ``Signals``).
package final class StreamChanges: Sequence, IteratorProtocol {
  private let latest = Monitor<StreamProgress?>(nil)
  private let tasks: [Task<Void, Never>]
  private var seen: StreamProgress?
  /// Whether ``seen`` is still to be repeated.
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

  /// Repeats the current state after another tenth of a second, for a caller whose display of it is still changing.
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
