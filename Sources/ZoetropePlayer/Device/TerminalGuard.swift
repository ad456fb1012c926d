import Glibc
import ZoetropeProcess
import ZoetropeTerminal

/// Gives the terminal back whatever happens, a fatal signal included.
///
/// Everything that a handler needs is laid down before the terminal is changed: the bytes to write
/// in memory that nobody frees, the line settings, the descriptor. The handler calls only `tcflush`,
/// `write`, `tcsetattr` and `raise`, which POSIX allows there.
///
/// The main thread's handlers have a stack of their own, so that one that has run over gives the
/// terminal back too. Other threads have none: a handler's stack belongs to the thread that sets
/// it, and those that decode and schedule run loops of a depth that no file decides.
///
/// Unsafe code: handlers can reach nothing but globals and calls that are safe in a signal.
@safe
enum TerminalGuard {
  // Unsafe: written by the main thread only, while `isArmed` is unset, when a handler uses none of them.
  // A handler changes `isArmed` alone, and a buffer that it may have begun to read is never freed.
  nonisolated(unsafe) private static var bytes: UnsafeMutablePointer<UInt8>?
  nonisolated(unsafe) private static var byteCount = 0
  nonisolated(unsafe) private static var descriptor: Int32 = -1
  /// Behind a pointer: the compiler makes a global of this type 57 bytes long where 60 are copied.
  nonisolated(unsafe) private static var settings: UnsafeMutablePointer<termios>?
  nonisolated(unsafe) private static var isArmed = false

  /// Where handlers run; kept here too, since the leak check does not ask the system for it.
  nonisolated(unsafe) private static var stack: UnsafeMutableRawPointer?
  /// Earlier ``bytes``, which a handler may be reading.
  nonisolated(unsafe) private static var retired: [UnsafeMutablePointer<UInt8>] = unsafe []

  /// Traps, and the other signals that end a process unless it catches them: nothing here uses those,
  /// but a parent's timer or a user may send one. Those to which the player has an answer are with
  /// ``Signals``.
  private static let fatalSignals =
    [SIGILL, SIGTRAP, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGSYS] + lethalSignals
  private static let lethalSignals =
    [SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2, SIGIO, SIGPWR, SIGSTKFLT, SIGXCPU] + (34...64)

  /// Prepares for the end: `restore` is what gives the terminal back.
  static func arm(restore: [UInt8], rawMode: RawMode?, descriptor: Int32) {
    unsafe isArmed = false
    // The buffer before is left alone: a handler may be reading it. That is some bytes a resize.
    if let bytes = unsafe bytes { unsafe retired.append(bytes) }
    let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: max(restore.count, 1))
    for (index, byte) in restore.enumerated() { unsafe copy[index] = byte }
    unsafe bytes = copy
    unsafe byteCount = restore.count
    unsafe self.descriptor = descriptor
    if let rawMode {
      // Left alone like the bytes, once it is there.
      let block = unsafe settings ?? .allocate(capacity: 1)
      unsafe block.initialize(to: rawMode.original)
      unsafe settings = block
    }
    unsafe isArmed = true
    provideStack()
    installHandlers()
  }

  /// Gives the terminal back, once; harmless when there is nothing to give.
  ///
  /// Output that a stuck terminal has not taken would hold the end up, so it is dropped by default.
  /// `settle` runs when the terminal looks as before and is still without echo.
  static func restore(dropsOutput: Bool = true, settle: () -> Void = {}) {
    guard unsafe isArmed else { return }
    unsafe isArmed = false
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
    // Never freed: a handler may be running on it. Four times what the system calls enough for
    // vector registers and frames of a handler that calls a handful of functions.
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
      var action = sigaction()
      unsafe action.__sigaction_handler.sa_handler = { number in
        TerminalGuard.restore()
        // The default action is back (SA_RESETHAND), and comes when this handler has returned.
        raise(number)
      }
      action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | Int32(SA_ONSTACK)
      unsafe sigaction(number, &action, nil)
    }
  }
}
