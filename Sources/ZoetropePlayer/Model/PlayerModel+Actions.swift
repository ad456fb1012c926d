import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

extension PlayerModel {
  /// Shows a message in the status line until a key is pressed.
  private mutating func say(_ text: String) { message = Message(text: text) }

  /// Performs an action that a key or the mouse requested.
  mutating func perform(_ action: PlayerAction) -> [PlayerEffect] {
    defer { if action != .saveSection { asksToSave = false } }
    switch action {
    case .togglePause: return togglePause()
    case .step(let count): return step(count)
    case .seek(let distance): return seek(by: distance)
    case .seekToFrame(let index): return jump(to: index)
    case .seekToEnd: return jump(to: range.upperBound - 1)
    case .seekToPart(let part): return jump(to: file.frameIndex(at: file.duration * part))
    case .scaleSpeed(let factor): return setRate(options.rate * factor)
    case .resetSpeed: return setRate(1)
    case .reverse: return reverse()
    case .bounce:
      say(options.bounces ? "bounce: off" : "bounce: on")
      return restart { $0.bounces.toggle() }
    case .cycleLoops: return cycleLoops()
    case .markSection: return markSection()
    case .toggleMotion: return toggleMotion()
    case .cycleFit:
      stage.fit.fit = Self.after(stage.fit.fit, in: [nil] + FrameLayout.Fit.allCases)
      say("fit: \(stage.fit.fit?.rawValue ?? "auto")")
      return repaint()
    case .cycleBackdrop:
      stage.cycleBackdrop()
      say("background: \(stage.backdrop.name)")
      return repaint()
    case .cycleMode:
      stage.mode = Self.after(stage.mode, in: stage.modes(including: settings.mode))
      say("drawing: \(stage.mode.name)")
      return repaint()
    case .toggleOutline:
      stage.view.isOutlined.toggle()
      return repaint()
    case .toggleStored:
      stage.view.isStored.toggle()
      return repaint()
    case .zoom(let factor): return stage.zoom(by: factor) ? reframe() : []
    case .zoomAt(let factor, let column, let row):
      return stage.zoom(by: factor, at: (column, row)) ? reframe() : []
    case .pan(let x, let y):
      if stage.pan(x: x, y: y) { return reframe() }
      if stage.shown?.layout.crop == nil { say("the whole picture is visible; + zooms in") }
    case .drag(let columns, let rows):
      return stage.drag(columns: columns, rows: rows) ? reframe() : []
    case .toggleInfo: showsDetails.toggle()
    case .toggleTimeline: showsTimeline.toggle()
    case .toggleHelp: return cover(with: .help(page: 0))
    case .showList:
      if hasOtherFiles { return cover(with: .list(request.files)) }
      say("the only file")
    case .nextFile:
      // Pressing the key once too often must not end the player.
      if request.hasNextFile {
        phase = .over(.skip(1))
      } else {
        say(hasOtherFiles ? "the last file" : "the only file")
      }
    case .previousFile:
      if hasOtherFiles { phase = .over(.skip(-1)) } else { say("the only file") }
    case .saveFrame: return saveFrame()
    case .saveSection: return saveSection()
    case .repaint: return repaint()
    case .suspend: return suspend()
    case .quit: phase = .over(.quit)
    case .interrupt: phase = .over(.ended(.interrupted))
    case .abort: phase = .over(.ended(.quit))
    }
    return []
  }

  private static func after<Value: Equatable>(_ value: Value, in all: [Value]) -> Value {
    guard let index = all.firstIndex(of: value) else { return all.first ?? value }
    return all[(index + 1) % all.count]
  }

  /// The range of frames that are played.
  private var range: Range<Int> { options.range ?? 0..<file.frameCount }

  /// The index of the first frame in the current direction.
  private var firstIndex: Int {
    options.direction == .forward ? range.lowerBound : max(range.upperBound - 1, 0)
  }

  /// Continues from frame `index`, or from the current frame if `index` is nil, with changed options.
  ///
  /// A scheduler cannot change its number of plays, start or stop bouncing, or play again after its end. Each of these
  /// requires a new scheduler.
  private mutating func restart(
    at index: Int? = nil, _ change: (inout PlaybackOptions) -> Void = { _ in }
  ) -> [PlayerEffect] {
    change(&options)
    options = restarting(at: index ?? position)
    frames.forgetScheduler()
    motion.isEnded = false
    return [.start(options, isPaused: motion.isPaused)]
  }

  /// Returns the options of a scheduler that starts at frame `index` and plays, even if motion was off.
  private func restarting(at index: Int) -> PlaybackOptions {
    var options = options
    options.startIndex =
      options.range.map { min(max(index, $0.lowerBound), $0.upperBound - 1) } ?? index
    options.reducesMotion = false
    return options
  }

  private mutating func togglePause() -> [PlayerEffect] {
    if motion.isEnded {
      (motion.isPaused, motion.isOff) = (false, false)
      return restart(at: firstIndex)
    }
    motion.isPaused.toggle()
    if motion.isPaused { return [.pause] }
    motion.isOff = false
    return [.resume]
  }

  private mutating func step(_ count: Int) -> [PlayerEffect] {
    motion.isPaused = true
    let range = range
    // The range is empty if nothing of a stream has arrived.
    guard !range.isEmpty else { return [] }
    let place = (position - range.lowerBound + count) % range.count
    return jump(to: range.lowerBound + (place + range.count) % range.count)
  }

  private mutating func seek(by distance: Duration) -> [PlayerEffect] {
    let time = file.startTime(position) + distance
    var index = file.frameIndex(at: min(max(time, .zero), file.duration))
    // If the distance is shorter than the frame, the seek still moves by one frame.
    if index == position { index += distance < .zero ? -1 : 1 }
    return jump(to: index)
  }

  /// Shows frame `wanted`, or the nearest frame within the range that is played. Playback continues from there unless
  /// it is paused.
  private mutating func jump(to wanted: Int) -> [PlayerEffect] {
    let range = range
    guard !range.isEmpty else { return [] }
    position = min(max(wanted, range.lowerBound), range.upperBound - 1)
    // Frames that were delivered before the jump are obsolete.
    frames.forgetScheduler()
    motion.isEnded = false
    return [
      .seek(to: position, isPaused: motion.isPaused, restart: restarting(at: position))
    ]
  }

  private mutating func setRate(_ rate: Double) -> [PlayerEffect] {
    options.rate = PlaybackRate(min(max(rate, 0.05), 20)).value
    return [.setRate(options.rate)]
  }

  private mutating func reverse() -> [PlayerEffect] {
    options.direction = options.direction.reversed
    return motion.isEnded ? restart() : [.setDirection(options.direction)]
  }

  private mutating func cycleLoops() -> [PlayerEffect] {
    let next: (count: PlayCount?, name: String) =
      switch options.playCount {
      case nil: (.once, "once")
      case .finite: (.indefinite, "forever")
      case .indefinite: (nil, "as in the file")
      }
    say("plays: \(next.name)")
    return restart { $0.playCount = next.count }
  }

  /// Sets the start of the repeated section. The next call sets its end, and the call after that removes the section.
  private mutating func markSection() -> [PlayerEffect] {
    // The start frame of a stream may not have arrived yet.
    guard position < file.frameCount else { return [] }
    if options.range != nil {
      say("section off")
      let playCount = settings.playback.playCount
      return restart {
        $0.range = nil
        $0.playCount = playCount
      }
    }
    guard let start = sectionStart.take() else {
      sectionStart = position
      say("section from frame \(position + 1); press a again to set its end")
      return []
    }
    let range = min(start, position)..<max(start, position) + 1
    say("section: frames \(range.lowerBound + 1) to \(range.upperBound)")
    return restart {
      $0.range = range
      $0.playCount = .indefinite
    }
  }

  private mutating func toggleMotion() -> [PlayerEffect] {
    motion.isOff.toggle()
    motion.isPaused = motion.isOff
    say(motion.isOff ? "motion off" : "motion on")
    position = firstIndex
    return restart()
  }

  /// Saves the frames of the repeated section, or all frames if there is no section. If that is more than one frame,
  /// the key must be pressed twice, so that a single mistaken key press does not fill the directory.
  private mutating func saveSection() -> [PlayerEffect] {
    guard hasFrames() else { return [] }
    guard asksToSave || range.count == 1 else {
      asksToSave = true
      say("press S again to save \(range.count) frames into the current directory")
      return []
    }
    asksToSave = false
    return [.saveAll(range)]
  }

  /// Returns whether there is a frame to save, and shows a message if there is none, as at the beginning of a stream.
  private mutating func hasFrames() -> Bool {
    if file.frameCount == 0 { say("no frame to save yet") }
    return file.frameCount > 0
  }

  /// Saves the current frame. During a jump, saves the target frame once it is shown.
  mutating func saveFrame() -> [PlayerEffect] {
    guard hasFrames() else { return [] }
    savesTarget = frames.shown?.index != position
    guard let shown = frames.shown, !savesTarget else { return [] }
    return [.save(shown.bitmap, index: shown.index)]
  }
}
