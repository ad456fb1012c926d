import Glibc
import Synchronization

/// What wakes the drawing thread: signals and frames.
///
/// A signal handler may do little more than set a bit and write a byte, which is what makes this
/// the place where all that happens outside is put in order. The bits say what came, the bytes in
/// the pipe only end a wait: none of them is needed to know.
enum WakePipe {
  /// The signals that the player takes over.
  static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH]

  private static let writer = Atomic<Int32>(-1)
  private static let reader = Atomic<Int32>(-1)
  /// One bit for each signal that has come and was not taken.
  private static let came = Atomic<UInt64>(0)

  /// The end to poll; -1 when the system has no pipe to give.
  static var descriptor: Int32 { reader.load(ordering: .relaxed) }

  /// Opens the pipe and takes the signals over.
  static func install() {
    if descriptor < 0 {
      var ends: [Int32] = [-1, -1]
      guard unsafe pipe(&ends) == 0 else { return }
      for end in ends {
        _ = fcntl(end, F_SETFL, O_NONBLOCK)
        _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      }
      reader.store(ends[0], ordering: .relaxed)
      writer.store(ends[1], ordering: .relaxed)
    }
    // A signal that the parent made this process ignore stays ignored.
    for number in signals where !SignalFlag.isIgnored(number) { catchSignal(number) }
    SignalMask.unblock(signals)
  }

  /// Makes `number` set its bit.
  static func catchSignal(_ number: Int32) {
    var action = sigaction()
    unsafe action.__sigaction_handler.sa_handler = { number in
      let saved = errno
      WakePipe.came.bitwiseOr(1 << UInt64(number), ordering: .relaxed)
      WakePipe.wake()
      errno = saved
    }
    action.sa_flags = Int32(SA_RESTART)
    unsafe sigaction(number, &action, nil)
  }

  /// Ends a wait. A full pipe takes no byte, which does not matter: the reader is awake then.
  static func wake() {
    var byte: UInt8 = 0
    _ = unsafe write(writer.load(ordering: .relaxed), &byte, 1)
  }

  /// Empties the pipe; the signals stay to be taken.
  static func drain() {
    var bytes = [UInt8](repeating: 0, count: 256)
    while unsafe read(descriptor, &bytes, bytes.count) == bytes.count {}
  }

  /// Whether a signal has come and was not taken.
  static var hasSignals: Bool { came.load(ordering: .relaxed) != 0 }

  /// The signals that have come, which are forgotten.
  static func takeSignals() -> Set<Int32> {
    let bits = came.exchange(0, ordering: .relaxed)
    return Set(signals.filter { bits & 1 << UInt64($0) != 0 })
  }

  /// Forgets signals that were dealt with in another way.
  static func forget(_ numbers: [Int32]) {
    let bits = numbers.reduce(UInt64(0)) { $0 | 1 << UInt64($1) }
    came.bitwiseAnd(~bits, ordering: .relaxed)
  }

  /// How the process is to end because of a signal; nil while none asks for that. Takes nothing.
  static var ending: ExitStatus? {
    let bits = came.load(ordering: .relaxed)
    return [
      (SIGINT, ExitStatus.interrupted), (SIGTERM, .terminated), (SIGHUP, .hungUp),
      (SIGQUIT, .quit),
    ].first { bits & 1 << UInt64($0.0) != 0 }?.1
  }
}
