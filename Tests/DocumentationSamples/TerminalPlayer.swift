import Zoetrope
import ZoetropeTerminal

func sampleOfTheTerminal(image: AnimatedImage) async throws {
  let capabilities = TerminalCapabilities(environment: .current)
  let screen = ScreenSize(columns: 80, rows: 24)
  let layout = FrameLayout(
    of: image.canvasSize, in: CellRect(column: 0, row: 0, columns: 80, rows: 24), screen: screen)
  var writer = FrameWriter(
    of: image.canvasSize, in: layout, on: screen, capabilities: capabilities)
  var bytes: [UInt8] = []
  let scheduler = FrameScheduler(image)
  for try await frame in scheduler.play() {
    try writer.draw(frame.bitmap, changed: frame.dirtyRect, into: &bytes)
    try FileDescriptor.standardOutput.writeAll(bytes)
  }
}
