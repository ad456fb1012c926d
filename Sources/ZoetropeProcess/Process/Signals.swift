internal import Glibc
internal import Synchronization
internal import Zoetrope
internal import ZoetropeShims

/// The signals that end, stop or resize this process.
///
/// Commands catch signals only while they have something to finish or restore, such as files being written, a trace to
/// save, or a terminal. Otherwise signals have their default action, so that a process that waits for a pipe without a
/// writer, or for a file system that does not answer, ends immediately. No handler could achieve that, because the
/// system lets only fatal signals end such a wait.
///
/// A handler may only set a bit, wake the ``WakePipe`` and restore `errno`, so all state is atomic and global.
package enum Signals {
  /// The signals that interrupt a command.
  private static let endings = [SIGINT, SIGTERM, SIGHUP]
  /// The signals that the terminal player handles.
  private static let terminal = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH]
  /// The signals that a preview, which draws into another program's terminal, handles.
  private static let preview = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCONT, SIGWINCH]

  /// One bit for each signal that has arrived and has not been cleared.
  private static let came = Atomic<UInt64>(0)
  /// The number of calls of ``whileCaught(_:)`` that have not returned.
  private static let catchers = Atomic<Int>(0)

  // MARK: - Catching

  /// Unblocks SIGINT, SIGTERM and SIGHUP in case the parent blocked them. Ignores SIGPIPE and SIGXFSZ, because `write`
  /// reports these conditions.
  package static func prepare() {
    SignalAction.unblock(endings)
    for number in [SIGPIPE, SIGXFSZ] { _ = signal(number, SIG_IGN) }
  }

  /// Runs `body`. Meanwhile, SIGINT, SIGTERM and SIGHUP set ``ending`` instead of ending the process. Calls can be
  /// nested.
  package static func whileCaught<Result, Failure>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if catchers.add(1, ordering: .relaxed).oldValue == 0 { catchEndings() }
    defer {
      if catchers.subtract(1, ordering: .relaxed).newValue == 0 {
        for number in endings where !isIgnored(number) { signal(number, SIG_DFL) }
      }
    }
    return try body()
  }

  /// Catches SIGINT, SIGTERM and SIGHUP from now on. A second signal of the same kind ends the process.
  package static func catchEndings() {
    for number in endings where !isIgnored(number) {
      // Without SA_RESTART, a blocked read or write returns, so that its caller can check ``ending``.
      handle(number, flags: Int32(bitPattern: UInt32(SA_RESETHAND)))
    }
  }

  /// Catches every signal that the player handles. Each of them ends a wait for ``WakePipe/descriptor``.
  package static func catchForTerminal() {
    guard WakePipe.open() else { return }
    for number in terminal where !isIgnored(number) { handle(number, flags: Int32(SA_RESTART)) }
    SignalAction.unblock(terminal)
  }

  /// Catches every signal that a preview handles. Each of them ends a wait for ``WakePipe/descriptor`` and a blocked
  /// write. Ignores SIGTTOU, because a preview may write while another program is in the foreground.
  package static func catchForPreview() {
    guard WakePipe.open() else { return }
    for number in preview where !isIgnored(number) { handle(number, flags: 0) }
    SignalAction.unblock(preview)
    signal(SIGTTOU, SIG_IGN)
  }

  /// Restores the default actions of the signals that ``catchForTerminal()`` catches.
  package static func endTerminal() {
    for number in terminal where !isIgnored(number) { signal(number, SIG_DFL) }
  }

  /// Restores the default actions of the signals that ``catchForPreview()`` catches.
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

  /// Makes the process call `handler` once when the fatal signal `number` arrives, after restoring the signal's default
  /// action.
  ///
  /// The handler runs on the alternate signal stack of its thread, if the thread has one. Faults in the mapping of a
  /// frame table also raise SIGBUS; the frame store handles these faults, and `handler` is not called for them.
  package static func onFatal(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void)
  {
    let flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | Int32(SA_ONSTACK)
    if number == SIGBUS { return zt_set_bus_handler(handler, flags) }
    SignalAction.set(number, handler, flags: flags)
  }

  /// Returns whether the process ignores signal `number`. Shells make background commands ignore some signals, which
  /// must stay ignored.
  package static func isIgnored(_ number: Int32) -> Bool { SignalAction.isIgnored(number) }

  // MARK: - Arrived signals

  /// The exit status for the signal that is to end the process, or nil if no such signal has arrived. Reading this
  /// property does not clear the signal.
  package static var ending: ExitStatus? {
    let bits = came.load(ordering: .relaxed)
    if bits == 0 { return nil }
    return [
      (SIGINT, ExitStatus.interrupted), (SIGTERM, .terminated), (SIGHUP, .hungUp),
      (SIGQUIT, .quit),
    ].first { bits & 1 << UInt64($0.0) != 0 }?.1
  }

  /// Whether a signal has arrived and has not been cleared.
  package static var hasCome: Bool { came.load(ordering: .relaxed) != 0 }

  /// Returns the signals that have arrived, and clears all of them except those that determine ``ending``.
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

  /// Ends the process by raising the signal that corresponds to `status`, so that a shell loop around the command ends
  /// as well. Exiting with the same number would not end the loop. Returns if no signal corresponds to `status`.
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
  /// In an orphaned process group, which no shell could continue, the system ignores the request to stop.
  package static func stopProcess() {
    signal(SIGTSTP, SIG_DFL)
    kill(0, SIGTSTP)
    handle(SIGTSTP, flags: Int32(SA_RESTART))
    // The caller knows that the process was stopped and continued, so both signals are cleared.
    forget([SIGTSTP, SIGCONT])
  }
}
