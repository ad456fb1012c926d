import Zoetrope
import ZoetropeTerminal

func sampleOfDrawing(
  _ picture: Bitmap, _ frames: [CompositedFrame], at now: Duration,
  send: ([UInt8]) -> Void, receive: (Duration) -> [UInt8]?
) throws(AnimatedImageError) {
  let capabilities = TerminalCapabilities(environment: .current)
  let screen = ScreenSize(columns: 80, rows: 24)
  let room = CellRect(column: 0, row: 0, columns: 80, rows: 23)
  let layout = FrameLayout(of: picture.size, in: room, screen: screen)
  var writer = FrameWriter(
    of: picture.size, in: layout, on: screen, capabilities: capabilities)
  var bytes: [UInt8] = []
  try writer.draw(picture, into: &bytes)

  for frame in frames {
    try writer.draw(frame.bitmap, changed: frame.dirtyRect, into: &bytes)
    send(bytes)
  }

  guard let rawMode = RawMode(descriptor: 0), rawMode.enter(descriptor: 0) else { return }
  defer { _ = rawMode.restore(descriptor: 0) }
  let probe = TerminalProbe(
    TerminalCapabilities(environment: .current), now: { ContinuousClock.now }, write: send,
    read: receive)
  let found = probe.capabilities

  let mode = TerminalMode(found)
  send(mode.enter)
  defer { send(mode.restore) }

  var fence = LinkFence(found)
  if fence.isOpen(at: now) {
    try writer.draw(picture, into: &bytes)
    send(bytes + LinkFence.query)
    fence.didWrite(byteCount: bytes.count, at: now)
  }
}
