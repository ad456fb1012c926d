import Glibc
import SystemPackage
import Zoetrope
import ZoetropeTerminal

/// Plays files on the terminal that standard output is connected to.
struct TerminalPlay {
  let settings: PlayerSettings
  let inputs: [InputFile]

  func run() -> ExitStatus {
    guard let device = TerminalDevice() else {
      CommandRunner.report(
        CommandFailure(.terminal, code: "terminal", "the terminal cannot be opened"),
        asJSON: false)
      return .terminal
    }
    var report = PlayReport(inputs.count)
    // Errors of the first file are told before the terminal is touched.
    var index = 0
    var opened: AnimatedImage?
    while index < inputs.count, opened == nil {
      opened = report.open(inputs[index], settings.decoding)
      if opened == nil { index += 1 }
    }
    guard let first = opened else { return report.finish() }
    guard let terminal = TerminalTakeover(device) else {
      CommandRunner.report(
        CommandFailure(.terminal, code: "terminal", "the terminal's settings cannot be changed"),
        asJSON: false)
      return .terminal
    }
    let player = makePlayer(device, terminal, first: first, input: inputs[index])
    let keepsPicture = settings.isInline
    var trace: String?
    var image: AnimatedImage? = first
    playing: while index >= 0, index < inputs.count {
      let isStep = image != nil
      guard let current = image ?? report.open(inputs[index], settings.decoding) else {
        index += 1
        continue
      }
      image = nil
      player.hasOtherFiles = inputs.count > 1
      if !isStep { player.send(player.stage.clear()) }
      let outcome = player.play(
        current, from: inputs[index], holds: settings.holds ?? (inputs.count == 1))
      if settings.trace != nil { trace = player.transport.scheduler.trace.json }
      switch outcome {
      case .next: index += 1
      case .previous: index = max(index - 1, 0)
      case .quit: break playing
      case .ended(let status):
        report.ending = status
        break playing
      case .failed(let failure):
        report.add(failure)
        index += 1
      }
    }
    // A picture that stays in the text is written to its end first.
    if keepsPicture, report.ending == nil { player.finishWriting() }
    terminal.leave(keepingOutput: keepsPicture && report.ending == nil)
    SignalFlag.install()
    if let trace { report.write(trace: trace, to: settings.trace) }
    return report.finish()
  }

  private func makePlayer(
    _ device: TerminalDevice, _ terminal: TerminalTakeover, first: AnimatedImage, input: InputFile
  ) -> Player {
    var capabilities = TerminalCapabilities(environment: .current)
    let probe = TerminalProbe(
      capabilities, now: { ContinuousClock.now }, write: { device.writeAll($0) },
      read: { device.read(within: $0) })
    capabilities = probe.capabilities
    if let colors = settings.colors { capabilities.colors = colors }
    let mode = chooseMode(capabilities)
    let screen = device.size(cell: capabilities.cellSize.map { ($0.width, $0.height) })
    var decoder = probe.decoder
    var epilogue: [UInt8] = []
    var room = CellRect(
      column: 0, row: 0, columns: screen.columns,
      rows: screen.rows - (settings.showsStatus && screen.rows > 2 ? 1 : 0))
    if settings.isInline {
      room.rows = max(screen.rows - 1, 1)
      let layout = FrameLayout(
        of: first.canvasSize, in: room, screen: screen, fit: settings.fit, isCentered: false)
      room.rows = layout.area.rows
      room.row = device.makeRoom(rows: room.rows, screen: screen, decoder: &decoder)
      epilogue = Array("\u{1B}[\(room.row + room.rows + 1);1H".utf8)
    }
    let usesKitty = capabilities.hasKittyGraphics || mode == .graphics(.kittyEdits)
    terminal.enter(
      TerminalMode(
        usesAlternateScreen: !settings.isInline,
        isSynchronized: capabilities.hasSynchronizedOutput,
        imageIDs: usesKitty && !settings.isInline ? Stage.imageIDs : [],
        passthrough: settings.passthrough),
      epilogue: epilogue)
    let player = Player(
      settings: settings, device: device, terminal: terminal,
      stage: Stage(
        capabilities: capabilities, settings: settings, mode: mode, screen: screen, room: room),
      decoder: decoder, input: input, image: first)
    // Keys typed while the terminal was asked are the user's, and count.
    player.typedBefore = probe.typed
    return player
  }

  private func chooseMode(_ capabilities: TerminalCapabilities) -> DrawingMode {
    guard let mode = settings.mode else { return DrawingMode(best: capabilities) }
    // kitty is the name of both ways; edits are for terminals that said they know them.
    if mode == .graphics(.kittyEdits), capabilities.hasKittyGraphics, !capabilities.hasKittyEdits {
      return .graphics(.kittyImages)
    }
    return mode
  }
}
