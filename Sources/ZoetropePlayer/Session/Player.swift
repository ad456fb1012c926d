import Glibc
import SystemPackage
import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

/// Plays files on a terminal that has been taken over. A player passes events to a ``PlayerModel`` and performs the
/// effects that the model returns.
///
/// A single thread draws, reads keys and handles signals, and waits for all of these in one place. A frame is encoded
/// when the scheduler delivers it, some milliseconds early, and written when it is due.
final class Player {
  let terminal: TerminalTakeover
  private(set) var model: PlayerModel
  private var painter: Painter
  private var input: InputQueue
  private var output = OutputQueue()
  /// The fence that tracks how much of the output the terminal has read.
  private var fence: LinkFence
  /// The instant from which the times of ``fence`` count.
  private let began = ContinuousClock.now
  private(set) var transport: Transport
  private let export = FrameExport()
  /// The size that the kernel reported at the start.
  private let firstSize: WindowSize
  /// The beginning of the names of saved frames.
  private var stem: [UInt8]

  init(
    _ model: PlayerModel, terminal: TerminalTakeover, painter: Painter, decoder: InputDecoder,
    latency: Duration, input: InputFile, image: OpenedInput
  ) {
    self.model = model
    self.terminal = terminal
    self.painter = painter
    self.input = InputQueue(decoder)
    firstSize = terminal.device.size
    stem = input.stem
    let settings = model.settings
    transport = Transport(image, options: settings.playback, store: settings.store)
    let capabilities = model.stage.capabilities
    fence = LinkFence(
      // A still picture needs no fence: no picture follows it, and the answer to the query might reach the shell.
      isEnabled: capabilities.reportsStatus && capabilities.didAnswer && !settings.isStill,
      latency: latency)
  }

  private var device: TerminalDevice { terminal.device }
  var outcome: PlayerOutcome? { model.outcome }

  /// Plays a file until it ends, or until an event ends playback.
  func play(_ request: PlayRequest, _ image: OpenedInput, from input: InputFile) -> PlayerOutcome {
    let settings = model.settings
    stem = input.stem
    transport = Transport(image, options: settings.playback, store: settings.store)
    handle(.play(request))
    handleTyped()
    // If the last byte typed during the probe is an ESC, more bytes may follow it.
    self.input.awaitEscape()
    while outcome == nil { turn() }
    transport.stop()
    export.cancel()
    return outcome ?? .quit
  }

  /// Waits until `opening` is done, and returns its result. Returns nil if a key or a signal ends the wait first;
  /// ``outcome`` is then set.
  func wait(
    for opening: InputOpening, of input: InputFile, hasNextFile: Bool
  ) -> Result<OpenedInput, CommandFailure>? {
    handle(.opening(name: input.shortName, hasNextFile: hasNextFile))
    handleTyped()
    while outcome == nil {
      if let result = opening.take() {
        handle(.opened)
        return result
      }
      redraw()
      writeDue()
      if outcome == nil { attend() }
    }
    return nil
  }

  /// Shows a message in the status line for the given time.
  func say(_ text: String, for time: Duration) { handle(.message(text, for: time)) }

  /// Clears the screen before the picture of the next file is drawn.
  func clear() { write(painter.clear(model.stage)) }

  /// Leaves the picture in the terminal's text. The next picture is drawn below it, in the room that `makeRoom`
  /// returns.
  func leavePicture(
    makeRoom: (
      _ model: PlayerModel, _ decoder: inout InputDecoder, _ typed: inout [InputEvent]
    ) -> CellRect
  ) {
    // A picture that the terminal does not read in time is ended where it is.
    if !finishWriting() { device.writeAll(terminal.mode.abort) }
    let row = model.stage.room.row + model.stage.room.rows
    device.writeAll(Array("\u{1B}[m\u{1B}[\(row + 1);1H".utf8))
    var typed: [InputEvent] = []
    model.stage.room = makeRoom(model, &input.decoder, &typed)
    model.keep(typed)
    painter.leavePicture()
  }

  /// Writes all pending output, but gives up after a second. Returns whether everything was written.
  func finishWriting() -> Bool { output.finish(on: device) }

  // MARK: Events

  private func handle(_ event: PlayerEvent) { perform(model.handle(event, at: .now)) }

  private func handleTyped() { for event in model.takeTyped() { handle(.input(event)) } }

  /// Does everything that can be done now, and then waits once.
  private func turn() {
    redraw()
    takeFrames()
    writeDue()
    // Frames that arrived in the meantime have already woken the thread, so they must be taken before it waits.
    takeFrames()
    if output.isEmpty { handle(.written) }
    if outcome == nil { attend() }
  }

  /// Waits for an event, and then handles everything except frames.
  private func attend() {
    let readiness = device.wait(
      forInput: true, output: !output.isEmpty, for: input.events.isEmpty ? timeLeft() : .zero)
    if readiness.contains(.wake) { WakePipe.drain() }
    // Signals are checked in every round, because other code may have drained the wake pipe.
    if Signals.hasCome { takeSignals() }
    if let stream = transport.source.stream { takeArrivals(of: stream) }
    if readiness.contains(.input) { readInput() }
    input.settle(at: .now)
    for event in input.take() { handle(.input(event)) }
    if let text = export.takeMessage() {
      handle(.message(text, for: nil))
      handle(.refresh)
    }
    handle(.time(isIdle: output.isEmpty))
  }

  private func timeLeft() -> Duration? {
    let times = [model.wakeTime(isIdle: output.isEmpty), input.escapeAt, fenceOpening]
    return times.compactMap { $0 }.min().map { ContinuousClock.now.duration(to: $0) }
  }

  /// The time at which the fence opens even without an answer, or nil if no picture is waiting for it.
  private var fenceOpening: ContinuousClock.Instant? {
    // While output is waiting, only the terminal makes room.
    guard model.wantsRoom, output.isEmpty else { return nil }
    return fence.opening.map { began + $0 + .milliseconds(1) }
  }

  private func takeSignals() {
    if let status = Signals.ending {
      handle(.ending(status))
      return
    }
    let signals = Signals.take()
    if signals.contains(SIGTSTP) {
      handle(.stopping)
    } else if signals.contains(SIGCONT) {
      comeBack()
    } else if signals.contains(SIGWINCH) {
      fitScreen()
    }
  }

  private func takeArrivals(of stream: StreamedImage) {
    // The progress is read before the frames, so that it never counts a frame that is missing from them.
    let progress = stream.progress
    let arrival = stream.core.arrival(after: model.file.frameCount)
    handle(.arrived(arrival.frames, playCount: arrival.playCount, progress))
  }

  private func readInput() {
    guard let bytes = device.read() else {
      handle(.ending(.hungUp))
      return
    }
    let events = input.feed(bytes)
    terminal.awaited.take(events)
    for case .reply(.ready) in events { fence.didAnswer(at: began.duration(to: .now)) }
    terminal.awaited.frameCount = fence.unansweredCount
  }

  /// Takes the frames that were delivered, skips late ones, and encodes the next frame.
  private func takeFrames() {
    let inbox = transport.inbox
    while let item = inbox.first, model.takes(due: item.due, at: .now) {
      switch inbox.take() {
      case .frame(let frame, let due):
        // A frame that was in transit during a seek belongs to the time before the seek, and is dropped.
        let scheduler = transport.scheduler
        guard frame.seekCount == scheduler.seekCount else { continue }
        handle(.frame(frame, due: due, direction: scheduler.direction))
      case .ended(let state): handle(.ended(state))
      case nil: break
      }
    }
    offerRoom()
  }

  /// Writes the rest of earlier output, and the next frame if it is due.
  private func writeDue() {
    flush()
    // If the screen has become smaller, a frame that was encoded for the old size could scroll it.
    guard model.isDue(at: .now), !fitScreen() else { return }
    handle(.due)
  }

  private func redraw() { if model.wantsRedraw { offerRoom() } }

  private func offerRoom() {
    guard model.wantsRoom, output.isEmpty, input.events.isEmpty,
      fence.isOpen(at: began.duration(to: .now))
    else { return }
    handle(.room)
  }

  // MARK: Effects

  private func perform(_ effects: [PlayerEffect]) {
    for effect in effects { perform(effect) }
  }

  private func perform(_ effect: PlayerEffect) {
    switch effect {
    case .start(let options, let isPaused): transport.start(options, isPaused: isPaused)
    case .pause: transport.scheduler.pause()
    case .resume: transport.scheduler.resume()
    case .seek(let index, let isPaused, let restart):
      do throws(AnimatedImageError) {
        try transport.seek(to: index, isPaused: isPaused, restart: restart)
      } catch {
        handle(.message(error.detail, for: nil))
      }
    case .setRate(let rate): transport.scheduler.rate = rate
    case .setDirection(let direction): transport.scheduler.direction = direction
    case .encode(let picture): handle(.encoded(draw(picture)))
    case .redraw(let picture, let clears):
      let bytes = clears ? painter.clear(model.stage) : painter.removePicture()
      let drawn = picture.map { draw($0) } ?? []
      handle(.redrawn(bytes + (drawn ?? []), isWhole: drawn != nil))
    case .offerRoom: offerRoom()
    case .cover(let bytes, let clears): write((clears ? painter.clear(model.stage) : []) + bytes)
    case .write(let bytes): write(bytes)
    case .writePicture(let bytes): writePicture(bytes)
    case .refresh: handle(.refresh)
    case .dropOutput:
      RawMode.dropOutput(descriptor: device.descriptor)
      fence.reset()
      output.replace(with: terminal.mode.abort)
      flush()
    case .suspend:
      terminal.leave()
      Signals.stopProcess()
      comeBack()
    case .save(let bitmap, let index): handle(.message(save(bitmap, index), for: nil))
    case .saveAll(let range):
      guard let image = transport.source.image else { return }
      let isStarted = export.start(image, range: range, stem: stem)
      let text = isStarted ? "saving \(range.count.counted("frame"))" : "still saving"
      handle(.message(text, for: nil))
    }
  }

  /// Returns the bytes that show a picture in the current view, or nil if encoding was cancelled because the picture is
  /// no longer needed.
  private func draw(_ picture: Picture) -> [UInt8]? {
    var picture = picture
    let view = model.stage.view
    if !view.isPlain, let image = transport.source.image {
      picture.bitmap = view.picture(
        picture.bitmap, index: picture.index, of: image, changed: picture.dirtyRect)
      picture.changed = nil
    }
    return painter.draw(picture, on: model.stage, while: isFrameWanted)
  }

  /// Returns whether the frame being encoded is still needed. It is not needed if a key or a signal ends playback or
  /// replaces what is drawn. Other keys are handled after the frame.
  private func isFrameWanted() -> Bool {
    let now = ContinuousClock.now
    guard input.isTimeToLook(at: now) else { return true }
    let readiness = device.wait(forInput: true, output: false, wakes: false, for: .zero)
    if readiness.contains(.input) { readInput() }
    input.settle(at: now)
    return !input.hasInterrupt && outcome == nil && !Signals.hasCome
      && model.deadline.map { now < $0 } ?? true
  }

  private func save(_ bitmap: Bitmap, _ index: Int) -> String {
    do {
      let path = try FrameExport.save(
        bitmap, index: index, of: model.file.frameCount, stem: stem)
      return "saved \(path)"
    } catch {
      return "not saved: \(error)"
    }
  }

  private func write(_ bytes: [UInt8]) {
    output.append(bytes)
    flush()
  }

  private func writePicture(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    guard fence.isEnabled else { return write(bytes) }
    write(bytes + LinkFence.query)
    fence.didWrite(byteCount: bytes.count, at: began.duration(to: .now))
    terminal.awaited.frameCount = fence.unansweredCount
  }

  private func flush() {
    do throws(Errno) {
      try output.flush(to: device)
    } catch {
      handle(.ending(error == .brokenPipe ? .success : .hungUp))
    }
  }

  /// Takes over the terminal again, and redraws everything.
  private func comeBack() {
    // The terminal may have been given only a part of a picture.
    output.replace(with: terminal.mode.abort)
    flush()
    fence.reset()
    terminal.enter()
    fit(.returned(screen))
  }

  /// The current size of the screen.
  private var screen: ScreenSize {
    ScreenSize(device.size, cell: model.stage.capabilities.cellSize, reportedAt: firstSize)
  }

  /// Fits the picture to the current size of the screen. Returns false if the size has not changed.
  @discardableResult
  private func fitScreen() -> Bool {
    let screen = screen
    guard screen != model.stage.screen else { return false }
    fit(.resized(screen))
    return true
  }

  /// Handles an event that may move the picture.
  private func fit(_ event: PlayerEvent) {
    handle(event)
    guard model.settings.isInline else { return }
    terminal.changeEpilogue(TerminalPlay.epilogue(below: model.stage.room))
  }
}
