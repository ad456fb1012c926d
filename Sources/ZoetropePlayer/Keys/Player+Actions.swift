import Glibc
import SystemPackage
import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

extension Player {
  /// Does what a key asks for.
  func perform(_ action: PlayerAction) {
    switch action {
    case .togglePause: togglePause()
    case .step(let count):
      isPaused = true
      let range = transport.range
      let place = (position - range.lowerBound + count) % range.count
      jump(to: range.lowerBound + (place + range.count) % range.count)
    case .seek(let distance): seek(by: distance)
    case .seekToFrame(let index): jump(to: index)
    case .seekToEnd: jump(to: transport.range.upperBound - 1)
    case .scaleSpeed(let factor): setRate(transport.scheduler.rate * factor)
    case .resetSpeed: setRate(1)
    case .reverse: reverse()
    case .bounce:
      restart { $0.bounces.toggle() }
      message = transport.options.bounces ? "turns round at the ends" : "does not turn round"
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
    case .nextFile:
      // One key too many must not end the player: only after the end there is nothing to lose.
      if hasNextFile || isEnded {
        outcome = .next
      } else {
        message = hasOtherFiles ? "the last file" : "the only file"
      }
    case .previousFile:
      if hasOtherFiles { outcome = .previous } else { message = "the only file" }
    case .markSection: markSection()
    case .toggleOutline: look { $0.isOutlined.toggle() }
    case .toggleStored: look { $0.isStored.toggle() }
    case .toggleMotion: toggleMotion()
    case .toggleTimeline: showsTimeline.toggle()
    case .saveFrame: saveFrame()
    case .saveSection: saveSection()
    case .repaint: repaint()
    case .suspend: suspend()
    case .quit: outcome = .quit
    case .interrupt: outcome = .ended(.interrupted)
    case .abort: outcome = .ended(.quit)
    }
  }

  private static func after<Value: Equatable>(_ value: Value, in all: [Value]) -> Value {
    guard let index = all.firstIndex(of: value) else { return all.first ?? value }
    return all[(index + 1) % all.count]
  }

  private func togglePause() {
    if isEnded {
      isPaused = false
      isMotionOff = false
      startAnew { $0.restart(at: $0.firstIndex) { _ in } }
    } else if isPaused {
      (isPaused, isMotionOff) = (false, false)
      transport.scheduler.resume()
    } else {
      isPaused = true
      transport.scheduler.pause()
    }
  }

  /// Shows frame `index`, or the nearest that is played, and goes on from there unless paused.
  private func jump(to wanted: Int) {
    let range = transport.range
    let index = min(max(wanted, range.lowerBound), range.upperBound - 1)
    position = index
    if isPaused { transport.scheduler.pause() }
    // Frames that were handed over before their time belong to what is left behind; so do those that
    // are still on their way, which `takeFrames()` knows by their count.
    next = nil
    missed = nil
    do throws(AnimatedImageError) {
      try transport.scheduler.seek(toFrame: index)
    } catch {
      message = error.detail
    }
    // What has ended goes nowhere, whether or not the end has been taken.
    guard transport.scheduler.state.isEnded else { return }
    startAnew { $0.restart(at: index, isPaused: isPaused) { _ in } }
  }

  private func seek(by distance: Duration) {
    let time = transport.starts[position] + distance
    var index = transport.frameIndex(at: min(max(time, .zero), transport.duration))
    // A short seek among long frames still goes somewhere.
    if index == position { index += distance < .zero ? -1 : 1 }
    jump(to: index)
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
    let all = PlayerBackdrop.cycle
    let index = (backdropIndex + 1) % all.count
    backdropIndex = index
    stage.options.backdrop = all[index].backdrop ?? stage.capabilities.backdrop
    stage.options.keepsTransparency = all[index] == .terminal
    message = "background: \(all[index].name)"
    repaint()
  }

  /// Writes the frame that is shown; never over another file.
  ///
  /// During a jump that is the frame which the status line names already, once it is there.
  func saveFrame() {
    savesNext = shown?.index != position
    guard let shown, !savesNext else { return }
    do {
      let path = try FrameExport.save(shown.bitmap, index: shown.index, stem: input.stem)
      message = "saved \(path)"
    } catch {
      message = "not saved: \(error)"
    }
  }

  /// Writes the frames of the section, or all, while playing goes on.
  private func saveSection() {
    let range = transport.range
    message =
      export.start(transport.image, range: range, stem: input.stem)
      ? "saving \(range.count) frames" : "still saving"
  }

  /// Sets the start, then the end of what is repeated, then takes both away.
  private func markSection() {
    if transport.options.range != nil {
      message = "section off"
      restart {
        $0.range = nil
        $0.playCount = settings.playback.playCount
      }
    } else if let start = sectionStart {
      sectionStart = nil
      let range = min(start, position)..<max(start, position) + 1
      message = "section: frames \(range.lowerBound) to \(range.upperBound - 1)"
      restart {
        $0.range = range
        $0.playCount = .indefinite
      }
    } else {
      sectionStart = position
      message = "section from frame \(position); a again sets its end"
    }
  }

  private func toggleMotion() {
    isMotionOff.toggle()
    message = isMotionOff ? "motion off" : "motion on"
    isPaused = isMotionOff
    position = transport.firstIndex
    startAnew { $0.restart(at: position, isPaused: isPaused) { _ in } }
  }

  private func look(_ change: (inout FrameView) -> Void) {
    change(&stage.view)
    repaint()
  }

  /// Gives the terminal back, stops the process as Ctrl-Z does, and goes on when it is continued.
  func suspend() {
    let wasPlaying = !isPaused && !isEnded
    if wasPlaying { transport.scheduler.pause() }
    terminal.leave()
    Signals.stopProcess()
    comeBack()
    if wasPlaying { transport.scheduler.resume() }
  }

  /// Takes the terminal again and draws everything: nobody knows what it shows.
  func comeBack() {
    outgoing.removeAll(keepingCapacity: true)
    outgoingStart = 0
    fence.reset()
    terminal.enter()
    let cell = stage.capabilities.cellSize.map { ($0.width, $0.height) }
    if device.size(cell: cell) != stage.screen { fitScreen() } else { repaint() }
  }
}
