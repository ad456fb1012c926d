import Glibc
import SystemPackage
import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

extension Player {
  /// Performs the action of a key.
  func perform(_ action: PlayerAction) {
    switch action {
    case .togglePause: togglePause()
    case .step(let count):
      isPaused = true
      let range = transport.range
      // Nothing of a stream has arrived.
      if range.isEmpty { break }
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
      stage.fit.fit = Self.after(stage.fit.fit, in: [nil] + FrameLayout.Fit.allCases)
      message = "fit: \(stage.fit.fit?.rawValue ?? "auto")"
      repaint()
    case .cycleBackdrop: cycleBackdrop()
    case .cycleMode:
      stage.mode = Self.after(stage.mode, in: stage.modes(including: settings.mode))
      message = "drawing: \(stage.mode.name)"
      repaint()
    case .zoom(let factor): if stage.zoom(by: factor) { reframe() }
    case .zoomAt(let factor, let column, let row):
      if stage.zoom(by: factor, at: (column, row)) { reframe() }
    case .pan(let x, let y):
      if stage.pan(x: x, y: y) {
        reframe()
      } else if stage.shown?.layout.crop == nil {
        message = "the whole picture is visible; + zooms in"
      }
    case .drag(let columns, let rows):
      if stage.drag(columns: columns, rows: rows) { reframe() }
    case .seekToPart(let part):
      jump(to: transport.frameIndex(at: transport.duration * part))
    case .toggleInfo: showsDetails.toggle()
    case .toggleHelp: cover(with: .help(page: 0))
    case .showList:
      if hasOtherFiles { cover(with: .list(files)) } else { message = "the only file" }
    case .nextFile:
      // One key press too many must not end the player.
      if hasNextFile {
        outcome = .skip(1)
      } else {
        message = hasOtherFiles ? "the last file" : "the only file"
      }
    case .previousFile:
      if hasOtherFiles { outcome = .skip(-1) } else { message = "the only file" }
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

  /// Shows frame `wanted`, or the nearest that is played, and continues from there unless paused.
  private func jump(to wanted: Int) {
    let range = transport.range
    guard !range.isEmpty else { return }
    let index = min(max(wanted, range.lowerBound), range.upperBound - 1)
    position = index
    if isPaused { transport.scheduler.pause() }
    // Frames delivered early are obsolete, and so are those in transit, which `takeFrames()`
    // recognises by their seek count.
    next = nil
    missed = nil
    do throws(AnimatedImageError) {
      try transport.scheduler.seek(toFrame: index)
    } catch {
      message = error.detail
    }
    // A scheduler that has ended does not seek.
    guard transport.scheduler.state.isEnded else { return }
    startAnew { $0.restart(at: index, isPaused: isPaused) { _ in } }
  }

  private func seek(by distance: Duration) {
    let time = transport.starts[min(position, transport.frameCount)] + distance
    var index = transport.frameIndex(at: min(max(time, .zero), transport.duration))
    // A seek shorter than the frame still moves by one.
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

  /// Continues from the current frame with other options.
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

  /// Saves the current frame, never over another file.
  ///
  /// During a jump the target is saved once it is shown.
  func saveFrame() {
    savesNext = shown?.index != position
    guard let shown, !savesNext else { return }
    do {
      let path = try FrameExport.save(
        shown.bitmap, index: shown.index, of: transport.frameCount, stem: input.stem)
      message = "saved \(path)"
    } catch {
      message = "not saved: \(error)"
    }
  }

  /// Saves the frames of the section, or all frames, while playing continues.
  private func saveSection() {
    let range = transport.range
    guard let image = transport.source.image else { return }
    message =
      export.start(image, range: range, stem: input.stem)
      ? "saving \(range.count) frames" : "still saving"
  }

  /// Sets the start of the repeated section, then its end, then removes it.
  private func markSection() {
    // The frame at which a stream is to start may not have arrived.
    guard position < transport.frameCount else { return }
    if transport.options.range != nil {
      message = "section off"
      restart {
        $0.range = nil
        $0.playCount = settings.playback.playCount
      }
    } else if let start = sectionStart {
      sectionStart = nil
      let range = min(start, position)..<max(start, position) + 1
      message = "section: frames \(range.lowerBound + 1) to \(range.upperBound)"
      restart {
        $0.range = range
        $0.playCount = .indefinite
      }
    } else {
      sectionStart = position
      message = "section from frame \(position + 1); a again sets its end"
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

  /// Releases the terminal, stops the process as Ctrl-Z does, and resumes when it is continued.
  func suspend() {
    let wasPlaying = !isPaused && !isEnded
    if wasPlaying { transport.scheduler.pause() }
    terminal.leave()
    Signals.stopProcess()
    comeBack()
    if wasPlaying { transport.scheduler.resume() }
  }

  /// Takes the terminal again and redraws everything.
  func comeBack() {
    outgoing.removeAll(keepingCapacity: true)
    outgoingStart = 0
    fence.reset()
    terminal.enter()
    let cell = stage.capabilities.cellSize.map { ($0.width, $0.height) }
    if device.size(cell: cell) != stage.screen { fitScreen() } else { repaint() }
  }
}
