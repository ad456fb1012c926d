import Dispatch
import Glibc
import Zoetrope
import ZoetropeTerminal

/// Plays a file in the terminal: space pauses, + and - change the speed, 0 starts over, q quits:
///
///     examples minimal-player party.gif
enum MinimalPlayer {
  static func run(_ arguments: [String]) async throws {
    guard arguments.count == 1, let line = RawMode(descriptor: 0)
    else { throw Usage("minimal-player FILE, in a terminal") }
    let image = try await AnimatedImage.open(arguments[0])
    var size = winsize()
    _ = unsafe ioctl(0, UInt(TIOCGWINSZ), &size)  // the kernel fills it in
    let screen = ScreenSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    let room = CellRect(column: 0, row: 0, columns: screen.columns, rows: screen.rows)
    // The environment seldom names graphics, so most terminals get characters. `TerminalProbe` would ask.
    let capabilities = TerminalCapabilities(environment: .current)
    let layout = FrameLayout(of: image.canvasSize, in: room, screen: screen)
    var writer = FrameWriter(
      of: image.canvasSize, in: layout, on: screen, capabilities: capabilities)
    let scheduler = FrameScheduler(image)
    let frames = scheduler.play()
    // However the loop ends (a key, a signal, an error), `defer` restores the terminal.
    for number in [SIGTERM, SIGHUP] { signal(number, SIG_IGN) }
    let signals = [SIGTERM, SIGHUP].map { DispatchSource.makeSignalSource(signal: $0) }
    for source in signals { source.setEventHandler { scheduler.stop() } }
    for source in signals { source.resume() }
    let mode = TerminalMode(capabilities)
    func send(_ bytes: [UInt8]) throws { try FileDescriptor.standardOutput.writeAll(bytes) }
    _ = line.enter(descriptor: 0)
    defer { _ = (try? send(mode.restore), line.restore(descriptor: 0)) }
    try send(mode.enter)
    let keys = Task {
      var decoder = InputDecoder()
      for try await bytes in FileChunks(.standardInput) {
        for case .key(let key) in decoder.feed(bytes) {
          switch key.key {
          case .character("q"): scheduler.stop()
          case .character("c") where key.modifiers == .control: scheduler.stop()
          case .character(" ") where scheduler.state == .paused: scheduler.resume()
          case .character(" "): scheduler.pause()
          case .character("+"): scheduler.rate *= 1.25
          case .character("-"): scheduler.rate /= 1.25
          case .character("0"): scheduler.seek(to: .zero)
          default: break
          }
        }
      }
    }
    defer { keys.cancel() }
    var bytes: [UInt8] = []
    for try await frame in frames {
      try writer.draw(frame.bitmap, changed: frame.dirtyRect, into: &bytes)
      try send(bytes)
    }
  }
}
