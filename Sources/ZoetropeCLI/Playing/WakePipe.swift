import Glibc
import Synchronization

/// The pipe that wakes the drawing thread: signals and frames arrive through it as single bytes.
///
/// A signal handler may do little more than write, which is what makes this the place where all
/// that happens outside is put in order.
enum WakePipe {
  /// The byte that stands for frames; signals are their own numbers.
  static let frames: UInt8 = 0
  /// The signals that the player takes over.
  static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH]

  private static let writer = Atomic<Int32>(-1)
  private static let reader = Atomic<Int32>(-1)

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
    for number in signals { catchSignal(number) }
  }

  /// Makes `number` arrive as a byte.
  static func catchSignal(_ number: Int32) {
    var action = sigaction()
    unsafe action.__sigaction_handler.sa_handler = { number in
      let saved = errno
      WakePipe.post(UInt8(truncatingIfNeeded: number))
      errno = saved
    }
    action.sa_flags = Int32(SA_RESTART)
    unsafe sigaction(number, &action, nil)
  }

  /// Writes one byte. A full pipe loses it, which does not matter: the reader is awake then.
  static func post(_ byte: UInt8) {
    var byte = byte
    _ = unsafe write(writer.load(ordering: .relaxed), &byte, 1)
  }

  /// The bytes that have come.
  static func drain() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    return Array(bytes.prefix(max(count, 0)))
  }
}
