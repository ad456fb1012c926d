// Plays a GIF or an animated PNG with half blocks, once: minimal-player FILE
import Glibc
import SystemPackage
import Zoetrope
import ZoetropeTerminal

guard CommandLine.arguments.count == 2 else {
  print("usage: minimal-player FILE")
  exit(2)
}

do {
  let image = try AnimatedImage(contentsOf: FilePath(CommandLine.arguments[1]))
  let capabilities = TerminalCapabilities(environment: .current)
  let screen = ScreenSize(columns: 80, rows: 24)
  let layout = FrameLayout(
    of: image.canvasSize, in: CellRect(column: 0, row: 0, columns: 80, rows: 24), screen: screen)
  let encoder = DrawingMode.blocks(.half).encoder(
    layout: layout, screen: screen, pictureSize: image.canvasSize, capabilities: capabilities)
  var writer = FrameWriter(encoder: encoder, isSynchronized: false)
  let mode = TerminalMode(usesAlternateScreen: true)

  func send(_ bytes: [UInt8]) throws { try FileDescriptor.standardOutput.writeAll(bytes) }

  try send(mode.enter)
  var options = PlaybackOptions()
  options.playCount = .once
  let scheduler = FrameScheduler(image, options: options)
  var bytes: [UInt8] = []
  for try await frame in scheduler.frames() {
    // Only what changed since the frame before is sent.
    writer.frame(frame.bitmap, changed: frame.dirtyRect, into: &bytes)
    try send(bytes)
  }
  try send(mode.restore)
} catch {
  print("minimal-player: \(error)")
  exit(1)
}
