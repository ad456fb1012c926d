import Glibc
import SystemPackage
import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

/// Plays files on a terminal that has been taken over.
///
/// One thread draws, reads keys and handles signals, in one wait. A frame is encoded when the
/// scheduler delivers it, some milliseconds early, and written when it is due.
final class Player {
  let settings: PlayerSettings
  let device: TerminalDevice
  let terminal: TerminalTakeover
  var stage: Stage
  var keys = KeyReducer()
  var mouse = MouseReducer()
  var decoder: InputDecoder
  var outcome: PlayerOutcome?

  var transport: Transport
  var input: InputFile
  var holds = true
  /// The files; of a single one there is no list.
  var files = FileList(entries: [], current: 0)
  /// Whether a file follows that can be opened.
  var hasNextFile = false

  var isPaused = false
  var isEnded = false
  /// What covers the picture.
  var overlay: PlayerOverlay?
  var showsDetails = false
  var message: String? { didSet { messageEndsAt = nil } }
  /// When ``message`` goes by itself; nil when it stays until a key is pressed.
  var messageEndsAt: ContinuousClock.Instant?
  /// The frame on screen; nil before the first.
  var shown: (bitmap: Bitmap, index: Int, play: Int, changed: PixelRect)?
  /// The frame that keys count from, which is ahead of ``shown`` during a jump.
  var position = 0
  /// Whether to save the target of a jump once it is shown.
  var savesNext = false
  /// The next frame, and its bytes once it is encoded.
  var next: (frame: ScheduledFrame, due: ContinuousClock.Instant, bytes: [UInt8]?)?
  /// Where skipped frames may have changed the picture; nil means everywhere.
  var missed: PixelRect? = .empty
  var lastDue = ContinuousClock.now
  var lastDuration = Duration.zero
  /// When the file ends, once its scheduler has finished.
  var endsAt: ContinuousClock.Instant?
  /// When `--duration` ends playing.
  let deadline: ContinuousClock.Instant?
  /// When a lone ESC counts as the key.
  var escapeAt: ContinuousClock.Instant?
  var outgoing: [UInt8] = []
  var outgoingStart = 0
  var statusText = ""
  var barText: [Character] = []
  /// When a status line that was delayed is to be written; nil when it is up to date.
  var statusDue: ContinuousClock.Instant?
  var statusAt = ContinuousClock.now - .seconds(1)
  var statistics = PlayerStatistics()
  /// Tracks how far the terminal has read.
  var fence: LinkFence
  let began = ContinuousClock.now
  /// Whether to redraw everything as soon as the link has room.
  var wantsRepaint = false
  /// Whether to redraw the picture, of which another part is to be seen.
  var wantsReframe = false
  /// The start of a section that has no end yet.
  var sectionStart: Int?
  var isMotionOff = false
  var showsTimeline = false
  let export = FrameExport()
  /// Input that was read while a frame was encoded; it is handled before another one is.
  var ahead: [InputEvent] = []
  /// When input was last looked for while a frame was encoded.
  private var lookedAt = ContinuousClock.now
  /// Keys typed before playing began.
  var typedBefore: [InputEvent] = []
  /// Whether another file is being opened.
  var isOpening = false
  /// Which of ``PlayerBackdrop/cycle`` is selected.
  var backdropIndex: Int

  init(
    settings: PlayerSettings, terminal: TerminalTakeover, stage: Stage, decoder: InputDecoder,
    input: InputFile, image: OpenedInput, latency: Duration
  ) {
    self.settings = settings
    device = terminal.device
    self.terminal = terminal
    self.stage = stage
    self.decoder = decoder
    self.input = input
    transport = Transport(image, options: settings.playback, store: settings.store)
    let capabilities = stage.capabilities
    fence = LinkFence(
      // A single picture has no successor, and the answer might reach the shell.
      isEnabled: capabilities.reportsStatus && capabilities.didAnswer && !settings.isStill,
      latency: latency)
    deadline = settings.wallTime.map { .now + $0 }
    backdropIndex = PlayerBackdrop.cycle.firstIndex(of: settings.backdrop) ?? 0
  }

  /// What is in which row of the screen.
  var plan: ScreenPlan {
    ScreenPlan(
      stage.screen, showsStatus: settings.showsStatus && !settings.isInline,
      isAnimated: transport.mayMove)
  }

  /// Plays `image` until it ends or something ends it; from `place`, if given, instead of where the
  /// settings say.
  func play(
    _ image: OpenedInput, from input: InputFile, holds: Bool,
    at place: (index: Int, isPaused: Bool)? = nil
  ) -> PlayerOutcome {
    self.input = input
    self.holds = holds
    outcome = nil
    shown = nil
    (isPaused, isEnded) = (place?.isPaused ?? false, false)
    (sectionStart, wantsRepaint, wantsReframe) = (nil, false, false)
    (statusText, barText) = ("", [])
    // The screen was cleared for this file.
    overlay = nil
    stage.forgetFile()
    isMotionOff = settings.playback.reducesMotion
    transport = Transport(image, options: settings.playback, store: settings.store)
    if !settings.isInline { stage.room = plan.room }
    var options = settings.playback
    options.startIndex =
      place?.index ?? settings.start?.index(in: image, policy: options.delayPolicy)
    startAnew { $0.start(options, isPaused: isPaused) }
    position = options.startIndex ?? 0
    let typed = typedBefore
    typedBefore = []
    handle(typed)
    // An ESC typed during the probe waits for more, as any other does.
    if decoder.hasPending { escapeAt = .now + .milliseconds(25) }
    while outcome == nil { turn() }
    transport.stop()
    export.cancel()
    return outcome ?? .quit
  }

  /// Starts a scheduler; frames of the previous one are no longer shown.
  func startAnew(_ body: (Transport) -> Void) {
    next = nil
    missed = nil
    endsAt = nil
    isEnded = false
    body(transport)
  }

  /// Does everything that can be done now, then waits once.
  private func turn() {
    repaintIfPossible()
    takeFrames()
    writeDue()
    // Frames that arrived meanwhile have already woken the thread: they must be taken before it
    // waits.
    takeFrames()
    // An inline picture is complete when the terminal has read all of it.
    if settings.isStill, shown != nil, outgoing.isEmpty, outcome == nil { outcome = .next }
    if outcome == nil { attend() }
  }

  /// Waits, then handles everything except frames.
  private func attend() {
    let readiness = device.wait(
      forInput: true, output: outgoingStart < outgoing.count,
      for: ahead.isEmpty ? timeLeft() : .zero)
    if readiness.contains(.wake) { WakePipe.drain() }
    // Checked in every round: the pipe may have been read elsewhere.
    if Signals.hasCome { takeSignals() }
    if transport.source.stream != nil {
      transport.takeArrivals()
      updateStatus(now: false)
    }
    if readiness.contains(.input) { readInput() }
    if !ahead.isEmpty {
      let events = ahead
      ahead = []
      handle(events)
    }
    if let text = export.takeMessage() {
      message = text
      updateStatus(now: true)
    }
    let now = ContinuousClock.now
    if let messageEndsAt, messageEndsAt <= now {
      say(nil)
      updateStatus(now: true)
    }
    if let statusDue, statusDue <= now { updateStatus(now: true) }
    if let escapeAt, escapeAt <= now {
      self.escapeAt = nil
      handle(decoder.flush())
    }
    if let deadline, deadline <= now, outcome == nil { outcome = .quit }
    if let endsAt, endsAt <= now, mayEnd {
      self.endsAt = nil
      if holds {
        isEnded = true
        updateStatus(now: true)
      } else if outcome == nil {
        outcome = .next
      }
    }
  }

  /// Whether the file may end: an inline picture must be complete, and nobody reads the help.
  private var mayEnd: Bool { (outgoing.isEmpty || !settings.isInline) && overlay == nil }

  /// Waits until `opening` is done; nil when a key or a signal comes first, as ``outcome`` tells.
  func wait(
    for opening: InputOpening, of input: InputFile
  ) -> Result<OpenedInput, CommandFailure>? {
    outcome = nil
    next = nil
    endsAt = nil
    isOpening = true
    defer { isOpening = false }
    if messageEndsAt == nil { say("opening \(input.shortName)") }
    // Most files are open before anybody could read this.
    statusDue = .now + .milliseconds(150)
    let typed = typedBefore
    typedBefore = []
    handle(typed)
    while outcome == nil {
      if let result = opening.take() {
        if messageEndsAt == nil { say(nil) }
        statusDue = nil
        return result
      }
      repaintIfPossible()
      writeDue()
      if outcome == nil { attend() }
    }
    return nil
  }

  private func timeLeft() -> Duration? {
    let times = [
      outgoing.isEmpty && (overlay != nil || next?.bytes != nil) ? next?.due : nil,
      mayEnd ? endsAt : nil, deadline, escapeAt, fenceOpening, statusDue, messageEndsAt,
    ].compactMap { $0 }
    return times.min().map { ContinuousClock.now.duration(to: $0) }
  }

  /// When the fence opens without an answer; nil while nothing waits for it.
  private var fenceOpening: ContinuousClock.Instant? {
    guard overlay == nil, wantsRepaint || wantsReframe || (next != nil && next?.bytes == nil) else {
      return nil
    }
    return fence.opening.map { began + $0 + .milliseconds(1) }
  }

  /// Whether another frame may be sent.
  var hasRoom: Bool { outgoing.isEmpty && fence.isOpen(at: began.duration(to: .now)) }

  private func takeSignals() {
    if let status = Signals.ending {
      outcome = .ended(status)
      return
    }
    let signals = Signals.take()
    if signals.contains(SIGTSTP) {
      suspend()
    } else if signals.contains(SIGCONT) {
      comeBack()
    } else if signals.contains(SIGWINCH) {
      fitScreen()
    }
  }

  private func readInput() {
    guard let bytes = device.read() else {
      outcome = .ended(.hungUp)
      return
    }
    let events = decoder.feed(bytes)
    terminal.awaited.take(events)
    for case .reply(.ready) in events { fence.didAnswer(at: began.duration(to: .now)) }
    terminal.awaited.frameCount = fence.unansweredCount
    ahead += events
    escapeAt = decoder.hasPending ? .now + .milliseconds(25) : nil
  }

  /// Whether the frame being encoded is still of use: false once a key or a signal ends or replaces it. Reads
  /// input every 20 ms; other keys are handled after the frame.
  func isFrameWanted() -> Bool {
    let now = ContinuousClock.now
    guard now - lookedAt > .milliseconds(20) else { return true }
    lookedAt = now
    let readiness = device.wait(forInput: true, output: false, wakes: false, for: .zero)
    if readiness.contains(.input) { readInput() }
    if let escapeAt, escapeAt <= now {
      self.escapeAt = nil
      ahead += decoder.flush()
    }
    let isEnding = ahead.contains {
      if case .key(let key) = $0 { isForOpening(key) } else { false }
    }
    return !isEnding && outcome == nil && !Signals.hasCome && deadline.map { now < $0 } ?? true
  }

  func handle(_ events: [InputEvent]) {
    for (index, event) in events.enumerated() {
      // Keys after the end of a file are for the next one.
      if outcome != nil {
        typedBefore += events[index...]
        return
      }
      switch event {
      case .key(let key):
        if isOpening, !isForOpening(key) {
          typedBefore.append(event)
          continue
        }
        take(key)
      case .mouse(let mouse):
        if isOpening { continue }
        take(mouse)
      case .reply: continue
      }
      if outcome == nil { updateStatus(now: true) }
    }
  }

  private func take(_ key: KeyEvent) {
    say(nil)
    let isControl = key.modifiers.contains(.control)
    switch overlay {
    case .help(let page)? where !isControl:
      showHelp(after: page, closes: [.escape, .character("?"), .character("q")].contains(key.key))
    case .list(let list)? where !isControl:
      perform(ListAction(key, page: list.page(stage.screen.rows)), in: list)
    default:
      if let action = keys.action(for: key) { perform(action) }
    }
  }

  private func take(_ event: MouseEvent) {
    switch overlay {
    case .help?: if case .press = event.kind { close() }
    case .list(let list)?: perform(ListAction(event), in: list)
    case nil:
      let columns = stage.screen.columns
      if let action = mouse.action(for: event, barRow: plan.barRow, columns: columns) {
        say(nil)
        perform(action)
      }
    }
  }

  /// Whether a key has a meaning while a file is being opened; other keys are for that file.
  private func isForOpening(_ key: KeyEvent) -> Bool {
    var keys = KeyReducer()
    return switch keys.action(for: key) {
    case .quit, .interrupt, .abort, .suspend, .repaint, .nextFile, .previousFile: true
    default: false
    }
  }
}
