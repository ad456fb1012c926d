internal import Glibc
internal import Synchronization
internal import Zoetrope
internal import ZoetropeShims

/// The signals that ask this process to end, to stop or to look at its terminal.
///
/// They are caught only while there is something to finish or to give back: files being written, a
/// trace to keep, a terminal. Everywhere else they have their default action. A process that waits
/// for a pipe without a writer or for a file system that does not answer then ends at once, which
/// no handler could achieve: the system lets such a wait end for fatal signals only, or restarts
/// the call.
///
/// A handler may only set a bit, wake the ``WakePipe`` and restore `errno`, so all state is atomic and
/// global.
package enum Signals {
  /// What ends a command that can be interrupted.
  private static let endings = [SIGINT, SIGTERM, SIGHUP]
  /// What a player of terminals answers.
  private static let terminal = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH]
  /// What a preview in another program's terminal answers.
  private static let preview = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCONT, SIGWINCH]

  /// One bit for each signal that has come and was not taken.
  private static let came = Atomic<UInt64>(0)

  // MARK: - Catching

  /// Unblocks SIGINT, SIGTERM and SIGHUP if the parent blocked them, and ignores SIGPIPE and SIGXFSZ,
  /// which `write` reports.
  package static func prepare() {
    SignalAction.unblock(endings)
    for number in [SIGPIPE, SIGXFSZ] { _ = signal(number, SIG_IGN) }
  }

  /// Runs `body`, during which SIGINT, SIGTERM and SIGHUP set ``ending`` instead of ending the process.
  package static func whileCaught<Result, Failure>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    catchEndings()
    defer {
      for number in endings where !isIgnored(number) { signal(number, SIG_DFL) }
    }
    return try body()
  }

  /// Catches SIGINT, SIGTERM and SIGHUP from now on. A second signal of the same kind ends the process.
  package static func catchEndings() {
    for number in endings where !isIgnored(number) {
      // Without SA_RESTART a blocked read or write returns, and the bit is seen.
      handle(number, flags: Int32(bitPattern: UInt32(SA_RESETHAND)))
    }
  }

  /// Catches every signal that a player answers, each of which ends a wait for ``WakePipe/descriptor``.
  package static func catchForTerminal() {
    guard WakePipe.open() else { return }
    for number in terminal where !isIgnored(number) { handle(number, flags: Int32(SA_RESTART)) }
    SignalAction.unblock(terminal)
  }

  /// Catches every signal that a preview answers. Each ends a wait for ``WakePipe/descriptor`` and a blocked
  /// write. Ignores SIGTTOU: a preview may write while another program has the foreground.
  package static func catchForPreview() {
    guard WakePipe.open() else { return }
    for number in preview where !isIgnored(number) { handle(number, flags: 0) }
    SignalAction.unblock(preview)
    signal(SIGTTOU, SIG_IGN)
  }

  /// Gives the signals of ``catchForTerminal()`` their default actions again.
  package static func endTerminal() {
    for number in terminal where !isIgnored(number) { signal(number, SIG_DFL) }
  }

  /// Gives the signals of ``catchForPreview()`` their default actions again.
  package static func endPreview() {
    for number in preview where !isIgnored(number) { signal(number, SIG_DFL) }
  }

  private static func handle(_ number: Int32, flags: Int32) {
    let handler: @convention(c) (Int32) -> Void = { number in
      let saved = errno
      Signals.came.bitwiseOr(1 << UInt64(number), ordering: .relaxed)
      WakePipe.wake()
      errno = saved
    }
    SignalAction.set(number, handler, flags: flags)
  }

  /// Calls `handler` when a signal that ends the process comes, once; then its default action is back.
  ///
  /// It runs on the alternate stack of its thread, if there is one. For SIGBUS it is called only if
  /// the fault is not in the mapping of a frame table, which a frame store mends.
  package static func onFatal(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void)
  {
    let flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | Int32(SA_ONSTACK)
    if number == SIGBUS { return zt_set_bus_handler(handler, flags) }
    SignalAction.set(number, handler, flags: flags)
  }

  /// Whether signal `number` is ignored; such a signal stays ignored.
  package static func isIgnored(_ number: Int32) -> Bool { SignalAction.isIgnored(number) }

  // MARK: - What came

  /// How the process is to end because of a signal; nil while none asks for that. Takes nothing.
  package static var ending: ExitStatus? {
    let bits = came.load(ordering: .relaxed)
    if bits == 0 { return nil }
    return [
      (SIGINT, ExitStatus.interrupted), (SIGTERM, .terminated), (SIGHUP, .hungUp),
      (SIGQUIT, .quit),
    ].first { bits & 1 << UInt64($0.0) != 0 }?.1
  }

  /// Whether a signal has come and was not taken.
  package static var hasCome: Bool { came.load(ordering: .relaxed) != 0 }

  /// The signals that have come; those that ask for no ``ending`` are forgotten.
  package static func take() -> Set<Int32> {
    let bits = forget([SIGTSTP, SIGCONT, SIGWINCH])
    return Set(terminal.filter { bits & 1 << UInt64($0) != 0 })
  }

  /// Forgets signals, and gives the bits of all that had come.
  @discardableResult
  private static func forget(_ numbers: [Int32]) -> UInt64 {
    let bits = numbers.reduce(UInt64(0)) { $0 | 1 << UInt64($1) }
    return came.bitwiseAnd(~bits, ordering: .relaxed).oldValue
  }

  // MARK: - Ending and stopping

  /// Ends the process by `status`'s signal, so that the shell's loop ends with it, as it would not
  /// for an exit with the number that the shell gives such an end; returns for other statuses.
  ///
  /// Not for SIGQUIT, which would leave a core file behind.
  package static func endProcess(with status: ExitStatus) {
    let number: Int32
    switch status {
    case .interrupted: number = SIGINT
    case .terminated: number = SIGTERM
    case .hungUp: number = SIGHUP
    default: return
    }
    signal(number, SIG_DFL)
    SignalAction.unblock([number])
    raise(number)
  }

  /// Stops this process, and those it shares a pipeline with, until they are continued.
  ///
  /// In an orphaned group, which nobody could continue, the system does nothing here.
  package static func stopProcess() {
    signal(SIGTSTP, SIG_DFL)
    kill(0, SIGTSTP)
    handle(SIGTSTP, flags: Int32(SA_RESTART))
    // That it was continued is what the caller acts on; it need not be told again.
    forget([SIGTSTP, SIGCONT])
  }
}
