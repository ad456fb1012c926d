import Glibc
import Zoetrope
package import ZoetropeProcess
import ZoetropeTerminal

/// Plays a file in a part of a terminal that another program uses: no queries, no keys, no modes.
///
/// Plays until a signal ends it, which removes the picture, or until the terminal or the pipe is gone.
/// When playing ends by itself, the last frame stays.
package struct PreviewPlay {
  let input: InputFile
  let settings: PlayerSettings
  let preview: PreviewSettings

  package init(_ input: InputFile, settings: PlayerSettings, preview: PreviewSettings) {
    (self.input, self.settings, self.preview) = (input, settings, preview)
  }

  package func run() -> ExitStatus {
    do throws(CommandFailure) {
      let output = PreviewOutput()
      let target = try PreviewTarget(preview, isTerminal: output.isTerminal)
      let opened = try settings.open(input)
      Signals.catchForPreview()
      let session = PreviewSession(
        opened, output: output, target: target, settings: settings, preview: preview)
      return try session.run(input)
    } catch {
      error.report(asJSON: false)
      return error.status
    }
  }
}

/// One thread draws, and waits for frames, signals and the end of the terminal at once.
private final class PreviewSession {
  /// How playing ended.
  private enum Outcome {
    case finished
    case signal(ExitStatus)
    case gone
    case failed(AnimatedImageError)
  }

  private struct Next {
    var frame: ScheduledFrame
    var due: ContinuousClock.Instant
    /// Nil until it is encoded.
    var bytes: [UInt8]?
  }

  private let opened: OpenedInput
  private let output: PreviewOutput
  private let settings: PlayerSettings
  private let preview: PreviewSettings
  private var canvas: PreviewCanvas
  private let scheduler: FrameScheduler
  private let clock = LeadClock()
  private let inbox = FrameInbox()
  private let deadline: ContinuousClock.Instant?
  private let skipsLate: Bool
  private let holds: Bool

  private var outcome: Outcome?
  private var next: Next?
  /// Where skipped frames may have changed the picture.
  private var missed = PixelRect.empty
  /// The frame on screen, to draw it again.
  private var shown: ScheduledFrame?
  /// When the duration of the last frame is over, once the scheduler has finished.
  private var endsAt: ContinuousClock.Instant?
  private var lastEnd = ContinuousClock.now
  /// Whether the terminal is too small for the place now, so that nothing is drawn.
  private var isHidden = false
  /// Whether the last write stopped in the middle.
  private var isCut = false

  init(
    _ opened: OpenedInput, output: PreviewOutput, target: PreviewTarget, settings: PlayerSettings,
    preview: PreviewSettings
  ) {
    (self.opened, self.output, self.settings, self.preview) = (opened, output, settings, preview)
    canvas = PreviewCanvas(target)
    deadline = settings.wallTime.map { .now + $0 }
    // A file accepts bytes immediately: without an end, playback would fill the disk.
    holds = output.isStream ? settings.holds ?? true : false
    var options = settings.playback
    options.startIndex = settings.start?.index(in: opened, policy: options.delayPolicy)
    if !output.isStream, options.playCount == nil { options.playCount = .once }
    skipsLate = options.latePolicy == .skip || options.latePolicy == .latest
    switch opened {
    case .whole(let image):
      scheduler = FrameScheduler(image, options: options, cache: settings.store, clock: clock)
    case .stream(let image):
      scheduler = FrameScheduler(image, options: options, clock: clock)
    }
  }

  func run(_ input: InputFile) throws(CommandFailure) -> ExitStatus {
    // One at a time: while the terminal accepts nothing, the scheduler skips frames.
    let shifts = settings.playback.latePolicy == .stretch
    inbox.take(from: scheduler, clock, waits: true, shifts: shifts)
    while outcome == nil { turn() }
    scheduler.stop()
    inbox.close()
    switch outcome {
    case .signal(let status):
      remove()
      return status
    case .gone:
      return output.isTerminal ? .hungUp : .success
    case .failed(let error):
      remove()
      throw CommandFailure(error, file: input.name, damage: settings.decoding.damage)
    case .finished, nil:
      guard let error = opened.stream?.progress.ending?.error else { return .success }
      throw CommandFailure(error, file: input.name, damage: settings.decoding.damage)
    }
  }

  /// Does everything that can be done now, then waits once.
  private func turn() {
    if let status = Signals.ending {
      outcome = .signal(status)
      return
    }
    if !Signals.take().isDisjoint(with: [SIGWINCH, SIGCONT]) { drawAgain() }
    takeFrame()
    writeIfDue()
    takeFrame()
    guard outcome == nil else { return }
    let readiness = output.wait(forOutput: next != nil && next?.bytes == nil, for: timeLeft)
    if readiness.contains(.wake) { WakePipe.drain() }
    if readiness.contains(.gone) { outcome = .gone }
    let now = ContinuousClock.now
    if let endsAt, endsAt <= now {
      self.endsAt = nil
      if !holds { outcome = outcome ?? .finished }
    }
    if let deadline, deadline <= now { outcome = outcome ?? .finished }
  }

  private var timeLeft: Duration? {
    let times = [next?.bytes == nil ? nil : next?.due, endsAt, deadline].compactMap { $0 }
    return times.min().map { ContinuousClock.now.duration(to: $0) }
  }

  /// Takes the next frame, skips it if another one is due as well, and encodes it.
  private func takeFrame() {
    while next?.bytes == nil {
      if let frame = next?.frame {
        guard skipsLate, let due = inbox.first?.due, due <= .now else { break }
        missed = missed.union(frame.dirtyRect)
        next = nil
      }
      switch inbox.take() {
      case .frame(let frame, let due): next = Next(frame: frame, due: due)
      case .ended(let state):
        if let error = state.error { outcome = .failed(error) }
        if state == .finished { endsAt = max(lastEnd, .now) }
        return
      case nil: return
      }
    }
    guard let frame = next?.frame, next?.bytes == nil, output.hasRoom else { return }
    next?.bytes =
      isHidden
      ? []
      : canvas.bytes(
        showing: frame.bitmap, index: frame.index, changed: missed.union(frame.dirtyRect))
    missed = .empty
  }

  private func writeIfDue() {
    guard let next, let bytes = next.bytes, next.due <= .now else { return }
    self.next = nil
    shown = next.frame
    lastEnd = next.due + next.frame.duration
    write(bytes)
  }

  private func write(_ bytes: [UInt8]) {
    arm()
    switch output.write(bytes) {
    case .written, .notBegun: break
    case .cut: isCut = true
    case .gone: outcome = .gone
    }
  }

  /// Makes fatal signals remove the picture too.
  private func arm() {
    guard output.isTerminal, armedArea != canvas.area else { return }
    armedArea = canvas.area
    TerminalGuard.arm(
      restore: canvas.target.abort + PreviewCanvas.close + canvas.removal, rawMode: nil,
      descriptor: output.descriptor.rawValue)
  }
  private var armedArea: CellRect?

  /// Draws the whole picture after the terminal was resized or used by others; removes it while there
  /// is no room.
  private func drawAgain() {
    let target = try? PreviewTarget(
      preview, isTerminal: output.isTerminal, imageID: canvas.target.imageID)
    isHidden = target == nil
    var bytes = canvas.move(to: target ?? canvas.target)
    // The frame encoded ahead was for the old place.
    next?.bytes = nil
    missed = PixelRect(opened.canvasSize)
    guard let shown, !isHidden else { return write(bytes) }
    bytes += canvas.bytes(showing: shown.bitmap, index: shown.index, changed: nil)
    write(bytes)
  }

  private func remove() {
    let start = isCut ? canvas.target.abort + PreviewCanvas.close : []
    output.finish(start + canvas.removal)
  }
}
