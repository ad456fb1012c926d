import Glibc

/// Which signals reach this thread.
enum SignalMask {
  /// Lets signals through that the parent had blocked.
  ///
  /// A mask is inherited: a tool that is started from a thread of a pool which blocks signals, as
  /// libdispatch's do, would never learn that it was asked to end.
  static func unblock(_ signals: [Int32]) {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for number in signals { unsafe sigaddset(&set, number) }
    unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }
}
