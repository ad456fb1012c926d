import Glibc
import Synchronization
import ZoetropeProcess
import ZoetropeTerminal

/// Restores the terminal whatever happens, even on a fatal signal.
///
/// Everything a handler needs is prepared before the terminal is changed: the bytes to write, in
/// memory that is never freed, the line settings and the descriptor. The handler calls only
/// `tcflush`, `write`, `poll`, `tcsetattr` and `raise`, which are async-signal-safe, and reads statics
/// whose exclusivity checks are bookkeeping on the thread's own stack.
///
/// The main thread's handlers run on an alternate stack, so that the terminal is restored after a
/// stack overflow too. Other threads have none: an alternate stack belongs to the thread that sets
/// it, and the depth of those threads does not depend on files.
///
/// Unsafe code: handlers can only reach globals. The main thread alone writes them, while `isArmed`
/// is unset: setting it releases the preceding writes, and whichever thread clears it, in a handler
/// or not, acquires them and is the only one to use the globals. A buffer is never freed, since a
/// handler that cleared `isArmed` may still be reading it.
@safe
enum TerminalGuard {
  nonisolated(unsafe) private static var bytes: UnsafeMutablePointer<UInt8>?
  nonisolated(unsafe) private static var byteCount = 0
  nonisolated(unsafe) private static var descriptor: Int32 = -1
  /// Behind a pointer, because the compiler makes a global of this type 57 bytes long and copies
  /// 60.
  nonisolated(unsafe) private static var settings: UnsafeMutablePointer<termios>?
  private static let isArmed = Atomic(false)

  /// The handlers' stack; kept so that the leak check finds it.
  nonisolated(unsafe) private static var stack: UnsafeMutableRawPointer?
  /// Earlier ``bytes``, which a handler may still be reading.
  nonisolated(unsafe) private static var retired: [UnsafeMutablePointer<UInt8>] = unsafe []

  /// Traps, and the other signals that end a process by default, which a timer or a user may send. The signals that the
  /// player handles are in ``Signals``.
  private static let fatalSignals =
    [SIGILL, SIGTRAP, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGSYS] + lethalSignals
  private static let lethalSignals =
    [SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2, SIGIO, SIGPWR, SIGSTKFLT, SIGXCPU] + (34...64)

  /// Prepares to restore the terminal by writing the bytes of `restore`.
  static func arm(restore: [UInt8], rawMode: RawMode?, descriptor: Int32) {
    isArmed.store(false, ordering: .sequentiallyConsistent)
    // The old buffer is kept, since a handler may be reading it; that costs a few bytes per change.
    if let bytes = unsafe bytes { unsafe retired.append(bytes) }
    let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: max(restore.count, 1))
    for (index, byte) in restore.enumerated() { unsafe copy[index] = byte }
    unsafe bytes = copy
    unsafe byteCount = restore.count
    unsafe self.descriptor = descriptor
    if let rawMode {
      // Allocated once, and never freed.
      let block = unsafe settings ?? .allocate(capacity: 1)
      unsafe block.initialize(to: rawMode.original)
      unsafe settings = block
    }
    isArmed.store(true, ordering: .releasing)
    provideStack()
    installHandlers()
  }

  /// Restores the terminal, once; has no effect when there is nothing to restore.
  ///
  /// Output that a stuck terminal has not read would block the exit, so it is discarded by default. `settle` runs once
  /// the screen is restored, while echo is still off.
  static func restore(dropsOutput: Bool = true, settle: () -> Void = {}) {
    guard isArmed.exchange(false, ordering: .acquiringAndReleasing) else { return }
    if dropsOutput { unsafe tcflush(descriptor, TCOFLUSH) }
    writeBytes()
    settle()
    if let settings = unsafe settings { unsafe tcsetattr(descriptor, TCSANOW, settings) }
  }

  private static func writeBytes() {
    var done = 0
    var attempts = 0
    while unsafe done < byteCount, attempts < 50, let start = unsafe bytes {
      // `done` stays within the buffer, which holds `byteCount` bytes.
      let count = unsafe write(descriptor, start + done, byteCount - done)
      if count > 0 {
        done += count
      } else if errno == EAGAIN {
        attempts += 1
        var request = unsafe pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&request, 1, 20)
      } else if errno != EINTR {
        break
      }
    }
  }

  private static func provideStack() {
    guard unsafe stack == nil else { return }
    // Never freed, since a handler may be running on it. Four times the system's recommended size.
    let byteCount = 65536
    let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 16)
    var request = unsafe stack_t(ss_sp: memory, ss_flags: 0, ss_size: byteCount)
    if unsafe sigaltstack(&request, nil) == 0 {
      unsafe stack = memory
    } else {
      unsafe memory.deallocate()
    }
  }

  private static func installHandlers() {
    // A signal that the parent made this process ignore stays ignored.
    for number in fatalSignals where !Signals.isIgnored(number) {
      Signals.onFatal(number) { number in
        TerminalGuard.restore()
        // The default action has been restored, and takes effect when this handler returns.
        raise(number)
      }
    }
  }
}
