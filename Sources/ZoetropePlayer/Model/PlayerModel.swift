import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

/// The part of the player that decides what to do.
///
/// A model is a value. ``handle(_:at:)`` takes an event and returns the effects to perform, in order. ``Player``
/// performs these effects, and manages the terminal, the scheduler and the files.
struct PlayerModel: Sendable {
  /// The current activity of the player.
  enum Phase: Sendable {
    case opening, playing
    case over(PlayerOutcome)
  }

  /// The properties that determine whether the frame on the screen advances.
  struct Motion: Sendable, Hashable {
    var isPaused = false
    /// Whether playback has ended and the last frame stays on the screen.
    var isEnded = false
    /// Whether motion was turned off by a key or in the settings.
    var isOff = false
  }

  /// A temporary message in the status line.
  struct Message: Sendable, Hashable {
    var text: String
    /// The time at which the message disappears, or nil if it stays until a key is pressed.
    var endsAt: ContinuousClock.Instant?
  }

  let settings: PlayerSettings
  /// The time at which `--duration` ends playback, or nil if there is no such limit.
  let deadline: ContinuousClock.Instant?
  var phase = Phase.opening
  var stage: Stage
  var frames = PlayerFrames()
  var status = StatusRows()
  var statistics = PlayerStatistics()
  /// Whether a picture was written since the terminal was set up. Until then, output that the terminal has not read may
  /// contain the bytes that set it up, and is not dropped.
  var hasDrawn = false

  var request: PlayRequest
  /// The options with which the file is currently played.
  var options: PlaybackOptions
  var motion = Motion()
  /// The index of the frame from which steps and seeks count. During a jump, this is already the target, which is not
  /// on the screen yet.
  var position = 0
  /// The start of a repeated section whose end is not set yet.
  var sectionStart: Int?
  /// Whether to save the target frame of a jump once that frame is shown.
  var savesTarget = false
  /// Whether the player has asked for confirmation before it saves all frames, so that the next key may confirm it.
  var asksToSave = false

  var keys = KeyReducer()
  var mouse = MouseReducer()
  /// The input that is kept for the next file.
  private(set) var typed: [InputEvent] = []
  /// The overlay that covers the picture, or nil if the picture is visible.
  var overlay: PlayerOverlay?
  var message: Message?
  var showsDetails = false
  var showsTimeline = false

  /// Creates the model of a player for a list of files. The first file, described by `request`, has been opened.
  init(
    settings: PlayerSettings, stage: Stage, request: PlayRequest, typed: [InputEvent] = [],
    at now: ContinuousClock.Instant
  ) {
    self.settings = settings
    self.stage = stage
    self.request = request
    self.typed = typed
    options = settings.playback
    deadline = settings.wallTime.map { now + $0 }
  }

  /// The outcome of the file, or nil while the file is being opened or played.
  var outcome: PlayerOutcome? {
    if case .over(let outcome) = phase { outcome } else { nil }
  }

  var file: PlayedFile { request.file }

  /// Whether the list contains other files.
  var hasOtherFiles: Bool { request.files.entries.count > 1 }

  /// The allocation of the screen's rows to the picture, the progress bar and the status line.
  var plan: ScreenPlan {
    ScreenPlan(
      stage.screen, showsStatus: settings.showsStatus && !settings.isInline,
      isAnimated: file.mayMove)
  }

  /// Handles `event` and returns the effects to perform, in order.
  mutating func handle(
    _ event: PlayerEvent, at now: ContinuousClock.Instant
  ) -> [PlayerEffect] {
    switch event {
    case .opening(let name, let hasNextFile):
      phase = .opening
      request.hasNextFile = hasNextFile
      (frames.next, frames.endsAt) = (nil, nil)
      if message?.endsAt == nil { message = Message(text: "opening \(name)") }
      // The message appears after a delay, because most files are open before anybody could read it.
      status.due = now + .milliseconds(150)
      return []
    case .opened:
      if message?.endsAt == nil { message = nil }
      status.due = nil
      return []
    case .play(let request): return play(request)
    case .input(let event): return take(event)
    case .arrived(let frames, let playCount, let progress):
      request.file.append(frames, playCount: playCount, progress: progress)
      return refresh(now: false, at: now)
    case .frame(let frame, let due, let direction):
      options.direction = direction
      if frames.take(frame, due: due) { statistics.dropped += 1 }
      return []
    case .ended(let state): return end(state, at: now)
    case .room: return useRoom()
    case .encoded(let bytes):
      frames.next?.bytes = bytes
      return []
    case .redrawn(let bytes, let isWhole): return redrawn(bytes, isWhole: isWhole, at: now)
    case .due: return showNext(at: now)
    case .written:
      // An inline picture is complete once all its bytes have been written.
      if settings.isStill, frames.shown != nil, outcome == nil { phase = .over(.next) }
      return []
    case .time(let isIdle): return take(isIdle: isIdle, at: now)
    case .refresh: return refresh(now: true, at: now)
    case .message(let text, let time):
      message = Message(text: text, endsAt: time.map { now + $0 })
      return []
    case .resized(let screen): return fit(screen)
    case .returned(let screen):
      hasDrawn = false
      return fit(screen)
    case .stopping: return suspend()
    case .ending(let status):
      phase = .over(.ended(status))
      return []
    }
  }

  /// Returns the time at which ``PlayerEvent/due`` or ``PlayerEvent/time(isIdle:)`` will next have an effect if no
  /// other event occurs before. Returns nil if there is no such time.
  func wakeTime(isIdle: Bool) -> ContinuousClock.Instant? {
    let due = overlay != nil || frames.next?.bytes != nil ? frames.next?.due : nil
    return [
      isIdle ? due : nil, mayEnd(isIdle: isIdle) ? frames.endsAt : nil, deadline, status.due,
      message?.endsAt,
    ].compactMap { $0 }.min()
  }

  /// Removes and returns the input that was kept for this file and can now be handled.
  mutating func takeTyped() -> [InputEvent] {
    defer { typed = [] }
    return typed
  }

  /// Keeps input for the next file.
  mutating func keep(_ events: [InputEvent]) { typed += events }

  private mutating func play(_ request: PlayRequest) -> [PlayerEffect] {
    self.request = request
    phase = .playing
    motion = Motion(isPaused: request.isPaused, isOff: settings.playback.reducesMotion)
    (sectionStart, savesTarget, overlay) = (nil, false, nil)
    frames.forgetFile()
    status.forget()
    stage.forgetFile()
    if !settings.isInline { stage.room = plan.room }
    options = settings.playback
    options.rate = PlaybackRate(options.rate).value
    options.startIndex = request.startIndex
    position = request.startIndex ?? 0
    return [.start(options, isPaused: motion.isPaused)]
  }

  private mutating func take(_ event: InputEvent) -> [PlayerEffect] {
    if case .reply = event { return [] }
    switch (phase, event) {
    // Keys that arrive after the end of a file are kept for the next file.
    case (.over, _):
      typed.append(event)
      return []
    case (.opening, .key(let key)) where !Self.interrupts(key):
      typed.append(event)
      return []
    case (.opening, .mouse): return []
    default: break
    }
    var effects: [PlayerEffect] = []
    switch event {
    case .key(let key): effects = take(key)
    case .mouse(let mouse): effects = take(mouse)
    case .reply: break
    }
    return outcome == nil ? effects + [.refresh] : effects
  }

  /// Returns whether a key has an effect while a file is being opened. Such a key also interrupts the encoding of a
  /// picture.
  static func interrupts(_ key: KeyEvent) -> Bool {
    var keys = KeyReducer()
    return switch keys.action(for: key) {
    case .quit, .interrupt, .abort, .suspend, .repaint, .nextFile, .previousFile: true
    default: false
    }
  }

  private mutating func take(isIdle: Bool, at now: ContinuousClock.Instant) -> [PlayerEffect] {
    var effects: [PlayerEffect] = []
    if let end = message?.endsAt, end <= now {
      message = nil
      effects += refresh(now: true, at: now)
    }
    if let due = status.due, due <= now { effects += refresh(now: true, at: now) }
    if let deadline, deadline <= now, outcome == nil { phase = .over(.quit) }
    if let end = frames.endsAt, end <= now, mayEnd(isIdle: isIdle) {
      frames.endsAt = nil
      if request.holds {
        motion.isEnded = true
        effects += refresh(now: true, at: now)
      } else if outcome == nil {
        phase = .over(.next)
      }
    }
    return effects
  }

  /// Returns whether the file may end. An inline picture must have been written completely, and no overlay may be open.
  private func mayEnd(isIdle: Bool) -> Bool { (isIdle || !settings.isInline) && overlay == nil }

  private mutating func end(
    _ state: PlaybackState, at now: ContinuousClock.Instant
  ) -> [PlayerEffect] {
    if state == .finished { frames.endsAt = max(frames.shownUntil ?? now, now) }
    if let error = state.error {
      phase = .over(
        .failed(CommandFailure(error, file: file.name, damage: settings.decoding.damage)))
    }
    return []
  }

  /// Stops the process, as Ctrl-Z does. Playback resumes when the process is continued.
  mutating func suspend() -> [PlayerEffect] {
    motion.isPaused || motion.isEnded ? [.suspend] : [.pause, .suspend, .resume]
  }
}
