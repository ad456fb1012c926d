import Dispatch
import Glibc
import Zoetrope
import ZoetropeTerminal

func sampleOfKeys(
  _ image: AnimatedImage, _ scheduler: FrameScheduler, draw: (ScheduledFrame) throws -> Void
) async throws {
  guard let line = RawMode(descriptor: 0), line.enter(descriptor: 0) else { return }
  let mode = TerminalMode(TerminalCapabilities(environment: .current))
  defer {
    RawMode.dropOutput(descriptor: 1)
    _ = try? FileDescriptor.standardOutput.writeAll(mode.restore)
    _ = line.restore(descriptor: 0)
  }
  try FileDescriptor.standardOutput.writeAll(mode.enter)

  let keys = Task {
    var decoder = InputDecoder()
    for try await bytes in FileChunks(.standardInput) {
      for case .key(let key) in decoder.feed(bytes) {
        switch key.key {
        case .character("q"): scheduler.stop()
        case .character("c") where key.modifiers == .control: scheduler.stop()
        case .character(" ") where scheduler.state == .paused: scheduler.resume()
        case .character(" "): scheduler.pause()
        case .left: scheduler.seek(to: .zero)
        default: break
        }
      }
    }
  }
  defer { keys.cancel() }
  for try await frame in scheduler.play() { try draw(frame) }

  let signals = [SIGTERM, SIGHUP].map { number in
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number)
    source.setEventHandler { scheduler.stop() }
    source.resume()
    return source
  }
  print(signals.count)
}
