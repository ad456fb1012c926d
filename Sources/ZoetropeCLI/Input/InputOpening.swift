import Synchronization
import Zoetrope

/// An input that is being opened on a thread of its own, for a caller that has keys and signals to
/// answer meanwhile.
///
/// ```swift
/// let opening = InputOpening(input, options) { WakePipe.wake() }
/// // In the caller's loop, after each wait:
/// if let result = opening.take() { … } else if wantsToQuit { opening.abandon() }
/// ```
final class InputOpening: Sendable {
  private let result = Mutex<Result<AnimatedImage, CommandFailure>?>(nil)
  private let isAbandoned = Atomic<Bool>(false)

  /// Starts to open `input`. `whenDone` is called once, on the other thread, when ``take()`` has
  /// the result; not after ``abandon()``.
  init(
    _ input: InputFile, _ options: DecodingOptions, whenDone: @escaping @Sendable () -> Void
  ) {
    let thread = SystemThread { [self] in open(input, options, whenDone) }
    if let thread {
      thread.detach()
    } else {
      // Without a thread to give the system still opens files.
      open(input, options, whenDone)
    }
  }

  private func open(
    _ input: InputFile, _ options: DecodingOptions, _ whenDone: @Sendable () -> Void
  ) {
    let opened: Result<AnimatedImage, CommandFailure>
    do throws(CommandFailure) {
      opened = .success(
        try input.open(options) { self.isAbandoned.load(ordering: .relaxed) })
    } catch {
      opened = .failure(error)
    }
    result.withLock { $0 = opened }
    if !isAbandoned.load(ordering: .relaxed) { whenDone() }
  }

  /// The image, or why there is none, once; nil while it is being opened.
  func take() -> Result<AnimatedImage, CommandFailure>? { result.withLock { $0.take() } }

  /// Gives up, without waiting. A pipe is read no further; a call that a file system does not
  /// answer stays on its thread, which ends with the process.
  func abandon() { isAbandoned.store(true, ordering: .relaxed) }
}
