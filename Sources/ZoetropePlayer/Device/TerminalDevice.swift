import Glibc
import SystemPackage
import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

/// The terminal of standard output, opened again.
///
/// A separate descriptor can be non-blocking without affecting the shell, which shares the other
/// one, and keys can be read from it when standard input is the animation.
struct TerminalDevice: Sendable {
  let descriptor: Int32

  /// Opens the terminal; nil when standard output is not a terminal, or cannot be opened for reading.
  ///
  /// With `controlling`, falls back on the controlling terminal, wherever output goes.
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

  /// The size according to the kernel; `cell` takes precedence over the kernel's pixels.
  func size(cell: (width: Int, height: Int)?) -> ScreenSize {
    guard let size = FileDescriptor(rawValue: descriptor).terminalSize else {
      return ScreenSize(columns: 80, rows: 24)
    }
    if let cell {
      return ScreenSize(
        columns: size.columns, rows: size.rows, cell: .init(width: cell.width, height: cell.height))
    }
    return ScreenSize(
      columns: size.columns, rows: size.rows, pixelWidth: size.pixelWidth,
      pixelHeight: size.pixelHeight)
  }

  /// The available input: empty if there is none, nil if the terminal has gone away.
  func read() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 4096)
    do {
      let count = try FileDescriptor(rawValue: descriptor).read(into: &bytes)
      return count > 0 ? Array(bytes[..<count]) : nil
    } catch {
      return error as? Errno == .resourceTemporarilyUnavailable ? [] : nil
    }
  }

  /// Writes as much as the terminal accepts now; returns the number of bytes.
  func write(_ bytes: ArraySlice<UInt8>) throws(Errno) -> Int {
    do {
      return try FileDescriptor(rawValue: descriptor).writeSome(bytes)
    } catch Errno.resourceTemporarilyUnavailable, Errno.interrupted {
      return 0
    } catch {
      throw error as? Errno ?? .ioError
    }
  }

  /// Writes everything; returns false if that takes longer than `time` or the terminal is gone.
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

  /// The result of ``wait(forInput:output:wakes:for:)``.
  struct Readiness: OptionSet, Sendable {
    let rawValue: Int
    static let input = Readiness(rawValue: 1)
    static let output = Readiness(rawValue: 2)
    static let wake = Readiness(rawValue: 4)
  }

  /// Waits for input, for room to write, for the ``WakePipe`` if it `wakes`, or for `time` to pass; nil
  /// waits indefinitely.
  func wait(
    forInput input: Bool, output: Bool, wakes: Bool = true, for time: Duration?
  ) -> Readiness {
    let events = (input ? Int16(POLLIN) : 0) | (output ? Int16(POLLOUT) : 0)
    var requests = [
      pollfd(fd: descriptor, events: events, revents: 0),
      pollfd(fd: wakes ? WakePipe.descriptor : -1, events: Int16(POLLIN), revents: 0),
    ]
    // `poll` takes whole milliseconds and `ppoll` is not visible to Swift, so less than a millisecond is slept first.
    let nanoseconds = time.map { max($0, .zero).wholeNanoseconds }
    if let nanoseconds, nanoseconds > 0, nanoseconds < 1_000_000 {
      timespec(tv_sec: 0, tv_nsec: Int(nanoseconds)).sleep()
    }
    let milliseconds = nanoseconds.map { Int32(clamping: $0 / 1_000_000) } ?? -1
    _ = waitForEvents(&requests, milliseconds: milliseconds)
    var result: Readiness = []
    let ended = Int16(POLLHUP) | Int16(POLLERR) | Int16(POLLNVAL)
    if requests[0].revents & (Int16(POLLIN) | ended) != 0 { result.insert(.input) }
    if requests[0].revents & Int16(POLLOUT) != 0 { result.insert(.output) }
    if requests[1].revents & Int16(POLLIN) != 0 { result.insert(.wake) }
    return result
  }
}

extension Duration {
  /// Rounded down.
  fileprivate var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds > 4_000_000_000 ? .max : seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}

extension TerminalDevice {
  /// Waits for input: empty when `time` is up, nil if the terminal has gone away or a signal asks to end.
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

  /// Scrolls in `rows` empty rows; returns the first of them.
  ///
  /// The terminal is asked for the cursor's position; one that does not answer within `patience` is
  /// assumed to have scrolled to its end. Keys typed meanwhile are added to `typed`.
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
