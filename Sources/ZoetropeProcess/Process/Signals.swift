internal import Glibc
internal import Synchronization
internal import Zoetrope
internal import ZoetropeShims

/// The signals that end, stop or resize this process.
///
/// They are caught only while there is something to finish or restore, such as files being written, a trace to save, or
/// a terminal. Otherwise they have their default action. A process that waits for a pipe without a writer, or for a
/// file system that does not answer, then ends immediately. No handler could achieve that, because the system lets only
/// fatal signals end such a wait.
///
/// A handler may only set a bit, wake the ``WakePipe`` and restore `errno`, so all state is atomic and
/// global.
package enum Signals {
  /// The signals that interrupt a command.
  private static let endings = [SIGINT, SIGTERM, SIGHUP]
  /// The signals that the terminal player handles.
  private static let terminal = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH]
  /// The signals that a preview in another program's terminal handles.
  private static let preview = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCONT, SIGWINCH]

  /// One bit for each signal that has arrived and has not been taken.
  private static let came = Atomic<UInt64>(0)

  // MARK: - Catching

  /// Unblocks SIGINT, SIGTERM and SIGHUP in case the parent blocked them. Ignores SIGPIPE and SIGXFSZ, because `write`
  /// reports these conditions.
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
      // Without SA_RESTART, a blocked read or write returns, so that its caller can check the bit.
      handle(number, flags: Int32(bitPattern: UInt32(SA_RESETHAND)))
    }
  }

  /// Catches every signal that the player handles. Each ends a wait for ``WakePipe/descriptor``.
  package static func catchForTerminal() {
    guard WakePipe.open() else { return }
    for number in terminal where !isIgnored(number) { handle(number, flags: Int32(SA_RESTART)) }
    SignalAction.unblock(terminal)
  }

  /// Catches every signal that a preview handles. Each ends a wait for ``WakePipe/descriptor`` and a blocked
  /// write. Ignores SIGTTOU: a preview may write while another program is in the foreground.
  package static func catchForPreview() {
    guard WakePipe.open() else { return }
    for number in preview where !isIgnored(number) { handle(number, flags: 0) }
    SignalAction.unblock(preview)
    signal(SIGTTOU, SIG_IGN)
  }

  /// Restores the default actions of the signals of ``catchForTerminal()``.
  package static func endTerminal() {
    for number in terminal where !isIgnored(number) { signal(number, SIG_DFL) }
  }

  /// Restores the default actions of the signals of ``catchForPreview()``.
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

  /// Calls `handler` once, for a signal that would end the process, after restoring the default action.
  ///
  /// The handler runs on the thread's alternate stack, if there is one. Faults in the mapping of a frame table also
  /// raise SIGBUS; the frame store handles them, and the handler is not called.
  package static func onFatal(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void)
  {
    let flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | Int32(SA_ONSTACK)
    if number == SIGBUS { return zt_set_bus_handler(handler, flags) }
    SignalAction.set(number, handler, flags: flags)
  }

  /// Returns whether signal `number` is ignored. Shells make background commands ignore signals, and such signals stay
  /// ignored.
  package static func isIgnored(_ number: Int32) -> Bool { SignalAction.isIgnored(number) }

  // MARK: - Arrived signals

  /// The status for the signal that is to end the process; nil if none has arrived. Takes no signals.
  package static var ending: ExitStatus? {
    let bits = came.load(ordering: .relaxed)
    if bits == 0 { return nil }
    return [
      (SIGINT, ExitStatus.interrupted), (SIGTERM, .terminated), (SIGHUP, .hungUp),
      (SIGQUIT, .quit),
    ].first { bits & 1 << UInt64($0.0) != 0 }?.1
  }

  /// Whether a signal has arrived and has not been taken.
  package static var hasCome: Bool { came.load(ordering: .relaxed) != 0 }

  /// Takes the signals that have arrived, except those that determine ``ending``.
  package static func take() -> Set<Int32> {
    let bits = forget([SIGTSTP, SIGCONT, SIGWINCH])
    return Set(terminal.filter { bits & 1 << UInt64($0) != 0 })
  }

  /// Clears the signals in `numbers`. Returns the bits of all signals that had arrived.
  @discardableResult
  private static func forget(_ numbers: [Int32]) -> UInt64 {
    let bits = numbers.reduce(UInt64(0)) { $0 | 1 << UInt64($1) }
    return came.bitwiseAnd(~bits, ordering: .relaxed).oldValue
  }

  // MARK: - Ending and stopping

  /// Ends the process by raising the signal of `status`, so that a shell loop around it ends as well. An exit with the
  /// same number would not end the loop. Returns for other statuses.
  ///
  /// Does not raise SIGQUIT, which would leave a core file.
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

  /// Stops this process and the others in its pipeline until they are continued.
  ///
  /// The system ignores this in an orphaned process group, which nobody could continue.
  package static func stopProcess() {
    signal(SIGTSTP, SIG_DFL)
    kill(0, SIGTSTP)
    handle(SIGTSTP, flags: Int32(SA_RESTART))
    // The caller knows that it was continued, so the signal is dropped.
    forget([SIGTSTP, SIGCONT])
  }
}
