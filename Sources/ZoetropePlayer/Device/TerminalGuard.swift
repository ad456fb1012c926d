import Glibc
import Synchronization
import ZoetropeProcess
import ZoetropeTerminal

/// Restores the terminal in any case, even if a fatal signal ends the process.
///
/// Everything that a handler needs is prepared before the terminal is changed: the bytes to write (in memory that is
/// never freed), the line settings and the descriptor. The handler calls only `tcflush`, `write`, `poll`, `tcsetattr`
/// and `raise`, which are async-signal-safe. It also reads static variables, whose exclusivity checks only use the
/// thread's own stack.
///
/// Handlers on the main thread run on an alternate stack, so that the terminal is restored after a stack overflow too.
/// Other threads have no alternate stack: such a stack belongs to the thread that sets it, and the depth of recursion
/// on those threads does not depend on files.
///
/// Unsafe code: handlers can access only global variables. Only the main thread writes these variables, and only while
/// `isArmed` is false. Setting `isArmed` releases the preceding writes. The thread that clears it, in a handler or not,
/// acquires these writes and is then the only thread that uses the variables. A buffer is never freed, because a
/// handler that cleared `isArmed` may still be reading it.
@safe
enum TerminalGuard {
  nonisolated(unsafe) private static var bytes: UnsafeMutablePointer<UInt8>?
  nonisolated(unsafe) private static var byteCount = 0
  nonisolated(unsafe) private static var descriptor: Int32 = -1
  /// The line settings to restore. They are stored behind a pointer, because the compiler gives a global variable of
  /// this type 57 bytes but copies 60.
  nonisolated(unsafe) private static var settings: UnsafeMutablePointer<termios>?
  private static let isArmed = Atomic(false)

  /// The alternate stack of the handlers. It is kept in a variable so that the leak check finds it.
  nonisolated(unsafe) private static var stack: UnsafeMutableRawPointer?
  /// Former values of ``bytes``, which a handler may still be reading.
  nonisolated(unsafe) private static var retired: [UnsafeMutablePointer<UInt8>] = unsafe []

  /// Traps, and other signals that end a process by default and that a timer or a user may send. Signals that the
  /// player handles itself are in ``Signals``.
  private static let fatalSignals =
    [SIGILL, SIGTRAP, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGSYS] + lethalSignals
  private static let lethalSignals =
    [SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2, SIGIO, SIGPWR, SIGSTKFLT, SIGXCPU] + (34...64)

  /// Prepares to restore the terminal. The bytes of `restore` will be written to `descriptor`.
  static func arm(restore: [UInt8], rawMode: RawMode?, descriptor: Int32) {
    isArmed.store(false, ordering: .sequentiallyConsistent)
    // The old buffer is kept, because a handler may be reading it. This costs a few bytes for each change.
    if let bytes = unsafe bytes { unsafe retired.append(bytes) }
    let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: max(restore.count, 1))
    for (index, byte) in restore.enumerated() { unsafe copy[index] = byte }
    unsafe bytes = copy
    unsafe byteCount = restore.count
    unsafe self.descriptor = descriptor
    if let rawMode {
      // This block is allocated only once, and is never freed.
      let block = unsafe settings ?? .allocate(capacity: 1)
      unsafe block.initialize(to: rawMode.original)
      unsafe settings = block
    }
    isArmed.store(true, ordering: .releasing)
    provideStack()
    installHandlers()
  }

  /// Restores the terminal once. Further calls have no effect until ``arm(restore:rawMode:descriptor:)`` is called
  /// again.
  ///
  /// By default, output that the terminal has not read yet is discarded, because output to a stuck terminal would block
  /// the exit. `settle` is called after the screen is restored, while echo is still off.
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
      // `done` is less than `byteCount`, so this address lies within the buffer.
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
    // The stack is never freed, because a handler may be running on it. It has four times the size that the system
    // recommends.
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
        // The default action was restored before this handler ran. It takes effect when the handler returns.
        raise(number)
      }
    }
  }
}
