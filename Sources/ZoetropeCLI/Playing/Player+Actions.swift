import Glibc
import SystemPackage
import Zoetrope
import ZoetropeTerminal

extension Player {
  /// Does what a key asks for.
  func perform(_ action: PlayerAction) {
    switch action {
    case .togglePause: togglePause()
    case .step(let count):
      isPaused = true
      let total = transport.frameCount
      jump(to: ((position + count) % total + total) % total)
    case .seek(let distance): seek(by: distance)
    case .seekToFrame(let index): jump(to: min(index, transport.frameCount - 1))
    case .seekToEnd: jump(to: transport.frameCount - 1)
    case .scaleSpeed(let factor): setRate(transport.scheduler.rate * factor)
    case .resetSpeed: setRate(1)
    case .reverse: reverse()
    case .bounce: restart { $0.bounces.toggle() }
    case .cycleLoops: cycleLoops()
    case .cycleFit:
      stage.fit = Self.after(stage.fit, in: FrameLayout.Fit.allCases)
      message = "fit: \(stage.fit.rawValue)"
      repaint()
    case .cycleBackdrop: cycleBackdrop()
    case .cycleMode:
      stage.mode = Self.after(stage.mode, in: stage.modes(including: settings.mode))
      message = "drawing: \(stage.mode.name)"
      repaint()
    case .zoom(let factor):
      stage.zoom = factor == 0 ? 1 : min(max(stage.zoom * factor, 0.05), 32)
      repaint()
    case .toggleInfo: showsDetails.toggle()
    case .toggleHelp:
      showsHelp = true
      send(stage.clear() + PlayerHelp.bytes(rows: stage.screen.rows))
      next?.bytes = nil
    case .nextFile: if hasOtherFiles || isEnded { outcome = .next }
    case .previousFile: if hasOtherFiles { outcome = .previous }
    case .saveFrame: saveFrame()
    case .repaint: repaint()
    case .suspend: suspend()
    case .quit: outcome = .quit
    case .interrupt: outcome = .ended(.interrupted)
    }
  }

  private static func after<Value: Equatable>(_ value: Value, in all: [Value]) -> Value {
    guard let index = all.firstIndex(of: value) else { return all.first ?? value }
    return all[(index + 1) % all.count]
  }

  private func togglePause() {
    if isEnded {
      isPaused = false
      let first = transport.scheduler.direction == .forward ? 0 : transport.frameCount - 1
      startAnew { $0.restart(at: first) { _ in } }
    } else if isPaused {
      isPaused = false
      transport.scheduler.resume()
    } else {
      isPaused = true
      transport.scheduler.pause()
    }
  }

  /// Shows frame `index` next, and goes on from there unless paused.
  private func jump(to index: Int) {
    position = index
    if isEnded || endsAt != nil {
      startAnew { $0.restart(at: index, isPaused: isPaused) { _ in } }
      return
    }
    if isPaused { transport.scheduler.pause() }
    // Frames that were handed over before their time belong to what is left behind.
    next = nil
    while case .frame = transport.inbox.first { _ = transport.inbox.take() }
    missed = nil
    do throws(AnimatedImageError) {
      try transport.scheduler.seek(toFrame: index)
    } catch {
      message = error.detail
    }
  }

  private func seek(by distance: Duration) {
    let time = transport.starts[position] + distance
    var index = transport.frameIndex(at: min(max(time, .zero), transport.duration))
    // A short seek among long frames still goes somewhere.
    if index == position { index += distance < .zero ? -1 : 1 }
    jump(to: min(max(index, 0), transport.frameCount - 1))
  }

  private func setRate(_ rate: Double) {
    transport.scheduler.rate = min(max(rate, 0.05), 20)
  }

  private func reverse() {
    let direction = transport.scheduler.direction.reversed
    if isEnded {
      restart { $0.direction = direction }
    } else {
      transport.scheduler.direction = direction
    }
  }

  /// Goes on from the frame that is shown, with other options.
  private func restart(_ change: (inout PlaybackOptions) -> Void) {
    startAnew { $0.restart(at: position, isPaused: isPaused, change) }
  }

  private func cycleLoops() {
    let next: (count: PlayCount?, name: String) =
      switch transport.options.playCount {
      case nil: (.once, "once")
      case .finite: (.indefinite, "for ever")
      case .indefinite: (nil, "as the file says")
      }
    message = "plays: \(next.name)"
    restart { $0.playCount = next.count }
  }

  private func cycleBackdrop() {
    let all = BackdropArgument.cycle
    let index = (backdropIndex + 1) % all.count
    backdropIndex = index
    stage.options.backdrop = all[index].backdrop ?? stage.capabilities.backdrop
    stage.options.keepsTransparency = all[index] == .terminal
    message = "background: \(all[index].name)"
    repaint()
  }

  /// Writes the frame that is shown beside where the tool was started; never over another file.
  private func saveFrame() {
    guard let shown else { return }
    let digits = String(shown.index)
    let number = String(repeating: "0", count: max(4 - digits.count, 0)) + digits
    let stem = input.stem
    do {
      let bytes = try PNGEncoder().encode(shown.bitmap)
      for attempt in 0..<100 {
        let suffix = "-\(number)\(attempt == 0 ? "" : "-\(attempt)").png"
        let path = FilePath(bytes: stem + Array(suffix.utf8))
        if OutputFile.exists(path) { continue }
        try OutputFile.write(bytes, to: path, isReplacing: false)
        message = "saved \(path)"
        return
      }
      message = "not saved: too many files of that name"
    } catch {
      message = "not saved: \(error)"
    }
  }

  /// Gives the terminal back, stops the process as Ctrl-Z does, and goes on when it is continued.
  func suspend() {
    let wasPlaying = !isPaused && !isEnded
    if wasPlaying { transport.scheduler.pause() }
    terminal.leave()
    terminal.stopProcess()
    comeBack()
    if wasPlaying { transport.scheduler.resume() }
  }

  /// Takes the terminal again and draws everything: nobody knows what it shows.
  func comeBack() {
    outgoing.removeAll(keepingCapacity: true)
    outgoingStart = 0
    terminal.enter()
    let cell = stage.capabilities.cellSize.map { ($0.width, $0.height) }
    if device.size(cell: cell) != stage.screen { fitScreen() } else { repaint() }
  }
}
