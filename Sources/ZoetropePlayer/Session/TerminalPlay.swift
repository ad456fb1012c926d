internal import Zoetrope
package import ZoetropeProcess
internal import ZoetropeTerminal

/// Plays files on the terminal to which standard output goes.
package struct TerminalPlay {
  let settings: PlayerSettings
  let inputs: [InputFile]

  package init(_ inputs: [InputFile], settings: PlayerSettings) {
    (self.inputs, self.settings) = (inputs, settings)
  }

  package func run() -> ExitStatus {
    guard let device = TerminalDevice() else {
      return refuse("the terminal cannot be opened")
    }
    var playlist = Playlist(inputs, settings: settings)
    // The first file is opened before the terminal is changed, so that errors in it are reported first.
    guard let first = playlist.open() else { return playlist.report.finish() }
    guard let terminal = TerminalTakeover(device) else {
      return refuse("the terminal's settings cannot be changed")
    }
    let asked = ContinuousClock.now
    let probe = ask(device, terminal)
    var trace: String?
    if let status = Signals.ending {
      playlist.report.ending = status
      terminal.leave()
    } else {
      let player = makePlayer(
        terminal, probe, latency: asked.duration(to: .now), first: first, in: playlist)
      trace = play(playlist: &playlist, from: first, with: player)
      // An inline picture stays after the end, so its pending output is written first.
      let keepsPicture =
        settings.isInline && playlist.report.ending == nil && player.finishWriting()
      terminal.leave(keepingOutput: keepsPicture)
    }
    Signals.catchEndings()
    playlist.reportEndings()
    if let trace {
      playlist.report.write(
        trace: trace, to: settings.trace, isReplacing: settings.isForced)
    }
    return playlist.report.finish()
  }

  private func refuse(_ message: String) -> ExitStatus {
    CommandFailure(.terminal, code: "terminal", message).report(asJSON: false)
    return .terminal
  }

  /// Plays one file after another. Returns the trace of the last file that was played, if a trace was requested.
  private func play(
    playlist: inout Playlist, from first: OpenedInput, with player: Player
  ) -> String? {
    var trace: String?
    var image: OpenedInput? = first
    /// The frame at which the current file continues after another file could not be opened, and whether it was paused.
    var place: (index: Int, isPaused: Bool)?
    while let current = image {
      let number = playlist.index
      if let notice = playlist.takeNotice() { player.say(notice, for: .seconds(5)) }
      var outcome = player.play(
        request(for: current, in: playlist, at: place), current, from: playlist.input)
      place = nil
      if settings.trace != nil { trace = player.transport.scheduler.trace.json }
      image = nil
      // While a file is being opened, keys may select another file.
      while image == nil {
        var request = Playlist.Request.step(1)
        var isWish = true
        switch outcome {
        case .next: isWish = false
        case .skip(let step): request = .step(step)
        case .choose(let number): request = .file(number)
        case .quit: return trace
        case .ended(let status):
          playlist.report.ending = status
          return trace
        case .failed(let failure):
          isWish = false
          playlist.report.add(failure, of: number)
        }
        var wish: PlayerOutcome?
        image = playlist.open(request) { opening, input, hasNextFile in
          let result = player.wait(for: opening, of: input, hasNextFile: hasNextFile)
          if result == nil { wish = player.outcome }
          return result
        }
        if let status = Signals.ending {
          playlist.report.ending = status
          return trace
        }
        guard image == nil else { break }
        if let wish {
          outcome = wish
        } else if isWish {
          // No other file can be shown, so the current file continues where it was.
          playlist.stay(at: number)
          image = current
          place = (player.model.position, player.model.motion.isPaused)
        } else {
          return trace
        }
      }
      if let image { prepare(player, for: image) }
    }
    return trace
  }

  /// Returns the request to play the current file of `playlist`. If `place` is not nil, playback starts there instead
  /// of at the start that the settings specify.
  private func request(
    for image: OpenedInput, in playlist: Playlist, at place: (index: Int, isPaused: Bool)? = nil
  ) -> PlayRequest {
    let options = settings.playback
    return PlayRequest(
      file: PlayedFile(image, from: playlist.input, options: options), files: playlist.list,
      hasNextFile: playlist.hasNext, holds: settings.holds ?? (inputs.count == 1),
      startIndex: place?.index ?? settings.start?.index(in: image, policy: options.delayPolicy),
      isPaused: place?.isPaused ?? false)
  }

  /// Makes room for the picture of another file. If the previous picture stays on the screen, the room is below it.
  private func prepare(_ player: Player, for image: OpenedInput) {
    guard settings.isStill else { return player.clear() }
    player.leavePicture { model, decoder, typed in
      inlineRoom(
        for: image, on: model.stage.screen, in: model.stage.mode, of: player.terminal.device,
        model.stage.capabilities, decoder: &decoder, typed: &typed)
    }
    player.terminal.changeEpilogue(Self.epilogue(below: player.model.stage.room))
  }

  /// Scrolls the screen to make room for an inline picture, and returns the cells for the picture.
  private func inlineRoom(
    for image: OpenedInput, on screen: ScreenSize, in mode: DrawingMode, of device: TerminalDevice,
    _ capabilities: TerminalCapabilities, decoder: inout InputDecoder, typed: inout [InputEvent]
  ) -> CellRect {
    let whole = CellRect(
      column: 0, row: 0, columns: screen.columns, rows: max(screen.rows - 1, 1))
    var room = mode.usable(
      whole, on: screen, passthrough: settings.passthrough ?? capabilities.multiplexer,
      isCentered: false)
    let fit = PictureFit(fit: settings.fit, filter: settings.filter)
    let isPixelArt = fit == PictureFit() && image.image.map { PixelArt.isLikely($0) } ?? false
    let layout = fit.layout(
      of: image.canvasSize, isPixelArt: isPixelArt, in: room, screen: screen, mode: mode,
      isCentered: false
    ).layout
    room.rows = layout.area.rows
    // A terminal that answered the probe answers this query too, but may take longer on a busy machine.
    room.row = device.makeRoom(
      rows: room.rows, screen: screen,
      patience: capabilities.didAnswer
        ? TerminalTakeover.patience ?? .seconds(2) : .milliseconds(200),
      decoder: &decoder, typed: &typed)
    return room
  }

  /// Returns the bytes that move the cursor below an inline picture.
  static func epilogue(below room: CellRect) -> [UInt8] {
    Array("\u{1B}[\(room.row + room.rows + 1);1H".utf8)
  }

  private func ask(_ device: TerminalDevice, _ terminal: TerminalTakeover) -> TerminalProbe {
    let start = TerminalCapabilities(environment: .current)
    let asked = ContinuousClock.now
    let probe = TerminalProbe(
      start, patience: TerminalTakeover.patience, now: { ContinuousClock.now },
      write: { device.writeAll($0) }, read: { device.read(within: $0) })
    let spent = asked.duration(to: .now)
    if probe.capabilities.didAnswer {
      terminal.awaited.latency = spent
    } else if !start.isDumb {
      // The answer is awaited for twice as long as the probe waited, but at least for 0.4 s.
      terminal.awaited.probeEnd = asked + max(spent * 2, .milliseconds(400))
    }
    return probe
  }

  private func makePlayer(
    _ terminal: TerminalTakeover, _ probe: TerminalProbe, latency: Duration, first: OpenedInput,
    in playlist: Playlist
  ) -> Player {
    let device = terminal.device
    var capabilities = probe.capabilities
    if let colors = settings.colors { capabilities.colors = colors }
    let mode = settings.mode?.confirmed(by: capabilities) ?? DrawingMode(best: capabilities)
    let size = device.size
    let screen = ScreenSize(size, cell: capabilities.cellSize, reportedAt: size)
    var decoder = probe.decoder
    // Keys that were typed during the probe are handled by the player.
    var typed = probe.typed
    var epilogue: [UInt8] = []
    // The player itself reduces this room by the rows of the status line and the progress bar.
    var room = CellRect(column: 0, row: 0, columns: screen.columns, rows: screen.rows)
    if settings.isInline {
      room = inlineRoom(
        for: first, on: screen, in: mode, of: device, capabilities, decoder: &decoder, typed: &typed
      )
      epilogue = Self.epilogue(below: room)
    }
    let usesKitty =
      capabilities.hasKittyGraphics || mode == .graphics(.kittyEdits)
      || mode == .graphics(.kittyImages)
    var stage = Stage(
      capabilities: capabilities, settings: settings, mode: mode, screen: screen, room: room)
    let painter = Painter()
    terminal.enter(
      TerminalMode(
        usesAlternateScreen: !settings.isInline,
        usesMouse: settings.usesMouse && !settings.isInline,
        isSynchronized: capabilities.hasSynchronizedOutput,
        keepsSixelRegisters: capabilities.canKeepSixelRegisters,
        usesKittyGraphics: usesKitty,
        imageIDs: usesKitty && !settings.isInline ? painter.imageIDs : [],
        passthrough: stage.passthrough(for: .graphics(.kittyEdits))),
      epilogue: epilogue)
    if capabilities.canKeepSixelRegisters { stage.capabilities.keepsSixelRegisters = true }
    let model = PlayerModel(
      settings: settings, stage: stage, request: request(for: first, in: playlist), typed: typed,
      at: .now)
    return Player(
      model, terminal: terminal, painter: painter, decoder: decoder, latency: latency,
      input: playlist.input, image: first)
  }
}
