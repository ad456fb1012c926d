import Glibc
import SystemPackage
import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

/// The terminal to which standard output goes, opened again.
///
/// The separate descriptor can be made non-blocking without affecting the shell, which shares the descriptor of
/// standard output. It also allows keys to be read when standard input is the animation.
struct TerminalDevice: Sendable {
  let descriptor: Int32

  /// Opens the terminal. Returns nil if standard output is not a terminal, or if the terminal cannot be opened for
  /// reading.
  ///
  /// - Parameter controlling: Whether to open the controlling terminal if standard output is not a terminal.
  init?(controlling: Bool = false) {
    guard controlling || isatty(1) == 1 else { return nil }
    let paths = isatty(1) == 1 ? ["/proc/self/fd/1", "/dev/tty"] : ["/dev/tty"]
    let options: FileDescriptor.OpenOptions = [
      .init(rawValue: O_NOCTTY), .nonBlocking, .closeOnExec,
    ]
    let found = paths.lazy.compactMap {
      try? FileDescriptor.open(FilePath($0), .readWrite, options: options)
    }.first
    guard let found else { return nil }
    descriptor = found.rawValue
  }

  /// The size that the kernel reports, or 80 columns and 24 rows if it reports none.
  var size: WindowSize {
    FileDescriptor(rawValue: descriptor).terminalSize
      ?? (columns: 80, rows: 24, pixelWidth: 0, pixelHeight: 0)
  }

  /// Returns the available input. The result is empty if there is none, and nil if the terminal has gone away.
  func read() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 4096)
    do {
      let count = try FileDescriptor(rawValue: descriptor).read(into: &bytes)
      return count > 0 ? Array(bytes[..<count]) : nil
    } catch {
      return error as? Errno == .resourceTemporarilyUnavailable ? [] : nil
    }
  }

  /// Writes as many bytes as the terminal accepts without blocking. Returns their number.
  func write(_ bytes: ArraySlice<UInt8>) throws(Errno) -> Int {
    do {
      return try FileDescriptor(rawValue: descriptor).writeSome(bytes)
    } catch Errno.resourceTemporarilyUnavailable, Errno.interrupted {
      return 0
    } catch {
      throw error as? Errno ?? .ioError
    }
  }

  /// Writes all bytes. Returns false if that takes longer than `time` or the terminal has gone away.
  @discardableResult
  func writeAll(_ bytes: [UInt8], within time: Duration = .seconds(1)) -> Bool {
    let deadline = ContinuousClock.now + time
    var rest = bytes[...]
    while !rest.isEmpty {
      guard let count = try? write(rest) else { return false }
      rest = rest.dropFirst(count)
      guard count == 0 else { continue }
      let left = ContinuousClock.now.duration(to: deadline)
      guard left > .zero else { return false }
      _ = wait(forInput: false, output: true, wakes: false, for: left)
    }
    return true
  }

  /// Waits until there is input, until there is room for output, until the ``WakePipe`` is written to (if `wakes` is
  /// true), or until `time` has passed. If `time` is nil, there is no time limit.
  func wait(
    forInput input: Bool, output: Bool, wakes: Bool = true, for time: Duration?
  ) -> Readiness {
    let events = (input ? Int16(POLLIN) : 0) | (output ? Int16(POLLOUT) : 0)
    // `poll` accepts whole milliseconds only, and `ppoll` is not visible to Swift. A wait of less than a millisecond
    // therefore sleeps before it polls.
    let nanoseconds = time.map { max($0, .zero).wholeNanoseconds }
    if let nanoseconds, nanoseconds > 0, nanoseconds < 1_000_000 {
      timespec(tv_sec: 0, tv_nsec: Int(nanoseconds)).sleep()
    }
    let milliseconds = nanoseconds.map { Int32(clamping: $0 / 1_000_000) } ?? -1
    let found = Readiness(of: descriptor, events, wakes: wakes, milliseconds: milliseconds)
    // Reading tells that the terminal has gone away.
    return found.contains(.gone) ? found.union(.input) : found
  }
}

extension Duration {
  /// The number of whole nanoseconds, rounded down.
  fileprivate var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds > 4_000_000_000 ? .max : seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}

extension TerminalDevice {
  /// Waits for input and returns it. The result is empty if no input arrives within `time`, and nil if the terminal has
  /// gone away or a signal asks the process to end.
  func read(within time: Duration) -> [UInt8]? {
    let deadline = ContinuousClock.now + time
    while true {
      let left = ContinuousClock.now.duration(to: deadline)
      if left <= .zero { return [] }
      let readiness = wait(forInput: true, output: false, for: left)
      if readiness.contains(.input) { return read() }
      if readiness.contains(.wake) { WakePipe.drain() }
      if Signals.ending != nil { return nil }
    }
  }

  /// Scrolls the screen until there are `rows` empty rows below the text, and returns the first of them.
  ///
  /// The function asks the terminal for the position of the cursor. If the terminal does not answer within `patience`,
  /// the cursor is assumed to be in the last row. Keys typed in the meantime are added to `typed`.
  func makeRoom(
    rows: Int, screen: ScreenSize, patience: Duration, decoder: inout InputDecoder,
    typed: inout [InputEvent]
  ) -> Int {
    writeAll([13] + [UInt8](repeating: 10, count: rows) + Array("\u{1B}[6n".utf8))
    let deadline = ContinuousClock.now + patience
    while ContinuousClock.now < deadline,
      let bytes = read(within: ContinuousClock.now.duration(to: deadline)), !bytes.isEmpty
    {
      var found: Int?
      for event in decoder.feed(bytes) {
        if case .reply(let reply) = event, case .cursor(let row, _) = reply.content {
          found = row
        } else {
          typed.append(event)
        }
      }
      if let found { return max(found - 1 - rows, 0) }
    }
    return max(screen.rows - 1 - rows, 0)
  }
}
