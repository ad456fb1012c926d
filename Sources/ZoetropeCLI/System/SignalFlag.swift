import Glibc
import Synchronization

/// Remembers that the process was asked to stop, so that work in hand can end cleanly.
///
/// Signals are caught only while there is something to finish: files being written, a trace to keep.
/// Everywhere else they have their default action. A process that waits for a pipe without a writer
/// or for a file system that does not answer then ends at once, which no handler could achieve: the
/// system lets such a wait end for fatal signals only, or starts the call again.
///
/// The handler only stores a number, which is all that a signal handler may safely do; loops look at
/// ``status`` between frames. A second signal of the same kind ends the process at once.
enum SignalFlag {
  private static let received = Atomic<Int32>(0)
  private static let caught = [SIGINT, SIGTERM]

  /// Lets SIGINT and SIGTERM through if the parent blocked them, and ignores SIGPIPE and SIGXFSZ,
  /// whose cases `write` reports.
  static func prepare() {
    SignalMask.unblock(caught)
    for number in [SIGPIPE, SIGXFSZ] { _ = signal(number, SIG_IGN) }
  }

  /// Runs `body`, during which SIGINT and SIGTERM set ``status`` instead of ending the process.
  static func whileCaught<Result, Failure>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    install()
    defer {
      for number in caught where !isIgnored(number) { signal(number, SIG_DFL) }
    }
    return try body()
  }

  /// Catches SIGINT and SIGTERM from now on, except one that the parent made this process ignore,
  /// as shells do for commands in the background.
  static func install() {
    for number in caught where !isIgnored(number) {
      var action = sigaction()
      unsafe action.__sigaction_handler.sa_handler = { number in
        SignalFlag.received.store(number, ordering: .relaxed)
      }
      // Without SA_RESTART a blocked read or write returns, and the flag is seen.
      action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
      unsafe sigaction(number, &action, nil)
    }
  }

  /// Whether signal `number` is ignored.
  static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard unsafe sigaction(number, nil, &action) == 0 else { return false }
    // SIG_IGN is a function pointer of value 1, which cannot be compared as a Swift function.
    let handler = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
    return handler == 1
  }

  /// Ends the process by `status`'s signal, so that a shell's loop ends with it, as it would not for
  /// an exit with the number that the shell gives such an end; returns for other statuses.
  ///
  /// Not for SIGQUIT, which would leave a core file behind.
  static func endProcess(with status: ExitStatus) {
    let number: Int32
    switch status {
    case .interrupted: number = SIGINT
    case .terminated: number = SIGTERM
    case .hungUp: number = SIGHUP
    default: return
    }
    signal(number, SIG_DFL)
    SignalMask.unblock([number])
    raise(number)
  }

  /// How the process is to end because of a signal; nil while none has come.
  static var status: ExitStatus? {
    switch received.load(ordering: .relaxed) {
    case 0: nil
    case SIGTERM: .terminated
    default: .interrupted
    }
  }
}
