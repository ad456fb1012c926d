internal import Synchronization
internal import SystemPackage
package import Zoetrope

/// Opens an input on its own thread, for a caller that must react to keys and signals meanwhile.
///
/// ```swift
/// let opening = InputOpening(input, options) { WakePipe.wake() }
/// // In the caller's loop, after each wait:
/// if let result = opening.take() { … }
/// ```
package final class InputOpening: Sendable {
  private let result = Mutex<Result<OpenedInput, CommandFailure>?>(nil)

  /// Starts to open `input` on another thread. When ``take()`` has the result, that thread calls `whenDone` once.
  package init(
    _ input: InputFile, _ options: DecodingOptions, reading: InputReading = .whole,
    knownTo store: FrameStore? = nil, whenDone: @escaping @Sendable () -> Void
  ) {
    let thread = SystemThread { [self] in open(input, options, reading, store, whenDone) }
    if let thread {
      thread.detach()
    } else {
      // If no thread can be created, the file is opened on the calling thread.
      open(input, options, reading, store, whenDone)
    }
  }

  private func open(
    _ input: InputFile, _ options: DecodingOptions, _ reading: InputReading,
    _ store: FrameStore?, _ whenDone: @Sendable () -> Void
  ) {
    let opened: Result<OpenedInput, CommandFailure>
    do throws(CommandFailure) {
      opened = .success(try input.open(options, reading: reading, knownTo: store))
    } catch {
      opened = .failure(error)
    }
    result.withLock { $0 = opened }
    whenDone()
  }

  /// Returns the result the first time that it is called after the input was opened or failed to open; otherwise
  /// returns nil.
  package func take() -> Result<OpenedInput, CommandFailure>? { result.withLock { $0.take() } }
}
