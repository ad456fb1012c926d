import Glibc
import Synchronization

/// Remembers that the process was asked to stop, so that work in hand can end cleanly.
///
/// The handler only stores a number, which is all that a signal handler may safely do; loops look at
/// ``status`` between frames. A second signal of the same kind ends the process at once.
enum SignalFlag {
  private static let received = Atomic<Int32>(0)

  /// Catches SIGINT and SIGTERM; ignores SIGPIPE and SIGXFSZ, whose cases `write` reports.
  static func install() {
    for number in [SIGINT, SIGTERM] {
      var action = sigaction()
      unsafe action.__sigaction_handler.sa_handler = { number in
        SignalFlag.received.store(number, ordering: .relaxed)
      }
      // Without SA_RESTART a blocked read or write returns, and the flag is seen.
      action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
      unsafe sigaction(number, &action, nil)
    }
    SignalMask.unblock([SIGINT, SIGTERM])
    for number in [SIGPIPE, SIGXFSZ] { _ = signal(number, SIG_IGN) }
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
