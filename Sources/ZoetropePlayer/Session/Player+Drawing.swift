import SystemPackage
import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

extension Player {
  /// Takes delivered frames, skips late ones, and encodes the next.
  func takeFrames() {
    let inbox = transport.inbox
    let drops = transport.options.latePolicy == .skip || transport.options.latePolicy == .latest
    while next?.bytes == nil {
      if let frame = next?.frame {
        // A later frame that is also due replaces this one.
        guard drops, let due = inbox.first?.due, due <= .now else { break }
        miss(frame.dirtyRect)
        statistics.dropped += 1
        next = nil
      }
      switch inbox.take() {
      case .frame(let frame, let due):
        if frame.seekCount == transport.scheduler.seekCount { next = (frame, due, nil) }
      case .ended(let state):
        end(state)
        return
      case nil: return
      }
    }
    // Encode only what can be sent: when there is room again, another frame may be due.
    guard let (frame, due, bytes) = next, bytes == nil, overlay == nil, !wantsRepaint,
      !wantsReframe, hasRoom, ahead.isEmpty
    else {
      return
    }
    let changed = missed.map { $0.union(frame.dirtyRect) }
    missed = .empty
    next = (
      frame, due,
      draw(frame.bitmap, index: frame.index, dirtyRect: frame.dirtyRect, changed: changed)
    )
  }

  /// The bytes that show a frame in the current view; nil once nobody waits for it any more.
  private func draw(
    _ bitmap: Bitmap, index: Int, dirtyRect: PixelRect, changed: PixelRect?
  ) -> [UInt8]? {
    guard !stage.view.isPlain, let image = transport.source.image else {
      return stage.draw(bitmap, index: index, changed: changed, while: isFrameWanted)
    }
    let picture = stage.view.picture(bitmap, index: index, of: image, changed: dirtyRect)
    return stage.draw(picture, index: index, changed: nil, while: isFrameWanted)
  }

  private func miss(_ rect: PixelRect) { missed = missed.map { $0.union(rect) } }

  private func end(_ state: PlaybackState) {
    if state == .finished { endsAt = max(lastDue + lastDuration, .now) }
    if let error = state.error {
      outcome = .failed(CommandFailure(error, file: input.name, damage: settings.decoding.damage))
    }
  }

  /// Writes the next frame if it is due, and the rest of earlier writes.
  func writeDue() {
    flush()
    guard let (frame, due, made) = next, due <= .now, made != nil || overlay != nil else { return }
    // A frame encoded for another size could scroll a smaller screen.
    guard !fitScreen() else { return }
    next = nil
    shown = (frame.bitmap, frame.index, frame.play, frame.dirtyRect)
    position = frame.index
    if savesNext { saveFrame() }
    lastDue = due
    lastDuration = frame.duration
    if overlay != nil {
      missed = nil
      return
    }
    var bytes = made ?? []
    if let status = changedStatus(now: false) { stage.append(status, to: &bytes) }
    statistics.shown += 1
    statistics.dropped += frame.skipped
    statistics.byteCount += bytes.count
    sendFenced(bytes)
  }

  /// Writes `bytes` after everything that is pending.
  func send(_ bytes: [UInt8]) {
    if outgoing.isEmpty { outgoing = bytes } else { outgoing += bytes }
    flush()
  }

  /// Like ``send(_:)``, followed by a query that the terminal answers once it has read this far.
  private func sendFenced(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    guard fence.isEnabled else { return send(bytes) }
    send(bytes + LinkFence.query)
    fence.didWrite(byteCount: bytes.count, at: began.duration(to: .now))
    terminal.awaited.frameCount = fence.unansweredCount
  }

  /// Writes what is pending, for at most a second; returns whether everything was written.
  func finishWriting() -> Bool {
    let isDone = device.writeAll(Array(outgoing[outgoingStart...]))
    outgoing.removeAll()
    outgoingStart = 0
    return isDone
  }

  private func flush() {
    while outgoingStart < outgoing.count {
      do throws(Errno) {
        let count = try device.write(outgoing[outgoingStart...])
        if count == 0 { return }
        outgoingStart += count
      } catch {
        outcome = .ended(error == .brokenPipe ? .success : .hungUp)
        outgoingStart = outgoing.count
      }
    }
    outgoing.removeAll(keepingCapacity: true)
    outgoingStart = 0
  }

  /// The bytes of the status line and the progress bar where they changed; at most four times a
  /// second unless `now`.
  private func changedStatus(now: Bool) -> [UInt8]? {
    let plan = plan
    guard let statusRow = plan.statusRow, overlay == nil, outcome == nil else {
      // Time that has come and is not forgotten would end every wait at once.
      statusDue = nil
      return nil
    }
    let hasUTF8 = stage.capabilities.hasUTF8
    let instant = ContinuousClock.now
    guard now || instant - statusAt >= .milliseconds(250) else {
      statusDue = statusAt + .milliseconds(250)
      return nil
    }
    statusDue = nil
    let line = status.text(columns: stage.screen.columns)
    let text = hasUTF8 ? line : TerminalText.ascii(line)
    var bytes =
      text == statusText
      ? [] : StatusLine.bytes(text, row: statusRow, columns: stage.screen.columns)
    statusText = text
    if let barRow = plan.barRow {
      let line = progress.text(columns: stage.screen.columns)
      let bar = hasUTF8 ? line : Array(TerminalText.ascii(String(line)))
      bytes += ProgressBar.bytes(bar, after: barText, row: barRow)
      barText = bar
    }
    guard !bytes.isEmpty else { return nil }
    statusAt = instant
    return bytes
  }

  /// How much of the animation has been shown, the current frame included.
  private var progress: ProgressBar {
    func part(_ index: Int) -> Double {
      let time = transport.starts[min(index, transport.frameCount)]
      return transport.duration > .zero ? time / transport.duration : 0
    }
    let section = section
    return ProgressBar(
      played: transport.frameCount > 0 && position + 1 >= transport.frameCount
        ? 1 : part(position),
      sectionStart: section.map { part($0.lowerBound) },
      sectionEnd: section.flatMap { $0.isEmpty ? nil : part($0.upperBound) })
  }

  /// The repeated section; empty while it has only a start.
  private var section: Range<Int>? {
    transport.options.range ?? sectionStart.map { $0..<$0 }
  }

  /// Writes only the status line.
  func updateStatus(now: Bool) {
    if let bytes = changedStatus(now: now) { send(bytes) }
  }

  private var status: StatusLine {
    let arrival = transport.arrival
    return StatusLine(
      file: hasOtherFiles ? (files.current + 1, files.entries.count) : nil, name: input.shortName,
      size: transport.source.canvasSize, format: transport.source.format,
      index: position, count: transport.frameCount,
      time: transport.starts[min(position, transport.frameCount)],
      duration: transport.duration, rate: transport.scheduler.rate,
      isReversed: transport.scheduler.direction == .backward, play: shown?.play ?? 0,
      plays: transport.playCount, mode: stage.mode.name, zoom: stage.viewport.zoom,
      isPaused: isPaused, isEnded: isEnded,
      received: arrival?.ending == nil ? arrival?.byteCount : nil,
      isCut: arrival?.ending.map { $0 != .complete } ?? false, section: section,
      message: message,
      note: transport.frame(position).flatMap { stage.view.note(of: $0) },
      timeline: showsTimeline ? transport.delays : nil,
      details: showsDetails ? statistics.text : nil)
  }

  /// Redraws everything with a new encoder, as soon as there is room.
  ///
  /// Keys arrive faster than a slow link transmits pictures, so several requests become one.
  func repaint() {
    wantsRepaint = true
    if let overlay { return cover(with: overlay) }
    // The frame encoded ahead is for the old encoder.
    next?.bytes = nil
    repaintIfPossible()
  }

  /// Redraws the picture, of which another part is to be seen, as soon as there is room.
  func reframe() {
    wantsReframe = true
    next?.bytes = nil
    repaintIfPossible()
  }

  /// Redraws what was requested if there is room.
  func repaintIfPossible() {
    guard wantsRepaint || wantsReframe, overlay == nil, hasRoom, ahead.isEmpty else { return }
    // Nothing is seen without the picture: the whole change is one synchronized update.
    let isSynchronized = stage.capabilities.hasSynchronizedOutput
    var bytes = isSynchronized ? Array("\u{1B}[?2026h".utf8) : []
    if wantsRepaint || !stage.keepsPlace {
      bytes += stage.clear()
      (statusText, barText) = ("", [])
    } else {
      bytes += stage.removePicture()
    }
    (wantsRepaint, wantsReframe) = (false, false)
    missed = .empty
    if let shown {
      let picture = draw(
        shown.bitmap, index: shown.index, dirtyRect: shown.changed, changed: nil)
      if picture == nil { wantsRepaint = true }
      bytes += picture ?? []
    } else {
      missed = nil
    }
    if let status = changedStatus(now: true) { stage.append(status, to: &bytes) }
    let close = Array("\u{1B}[?2026l".utf8)
    if isSynchronized, bytes.suffix(close.count) != close[...] { bytes += close }
    sendFenced(bytes)
  }

  /// Discards output that the terminal has not read, since it was made for another screen.
  private func dropOutput() {
    RawMode.dropOutput(descriptor: device.descriptor)
    fence.reset()
    outgoing = terminal.mode.abort
    outgoingStart = 0
    flush()
  }

  /// Fits the picture to the current size of the screen; returns false if that has not changed.
  @discardableResult
  func fitScreen() -> Bool {
    let cell = stage.capabilities.cellSize.map { ($0.width, $0.height) }
    let screen = device.size(cell: cell)
    guard screen != stage.screen else { return false }
    stage.screen = screen
    dropOutput()
    var room = stage.room
    if settings.isInline {
      room.columns = screen.columns
      room.rows = min(room.rows, screen.rows)
      room.row = max(0, min(room.row, screen.rows - room.rows))
    } else {
      room = plan.room
    }
    stage.room = room
    if let overlay { cover(with: overlay) } else { repaint() }
    return true
  }
}
