import Glibc
import ZoetropeTerminal

extension TerminalDevice {
  /// Waits for bytes: none when `time` is up, nil when the terminal is gone or a signal asks for the
  /// end.
  func read(within time: Duration) -> [UInt8]? {
    let deadline = ContinuousClock.now + time
    while true {
      let left = ContinuousClock.now.duration(to: deadline)
      if left <= .zero { return [] }
      let readiness = wait(forInput: true, output: false, for: left)
      if readiness.contains(.input) { return read() }
      if readiness.contains(.wake) { WakePipe.drain() }
      if WakePipe.ending != nil { return nil }
    }
  }

  /// Scrolls so many empty rows in, and says at which row they begin.
  ///
  /// The terminal is asked where the cursor is; one that does not answer within `patience` is taken
  /// to have scrolled to its end. What is typed meanwhile is added to `typed`.
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
        if case .reply(.cursor(let row, _)) = event { found = row } else { typed.append(event) }
      }
      if let found { return max(found - 1 - rows, 0) }
    }
    return max(screen.rows - 1 - rows, 0)
  }
}
