import Glibc
import Zoetrope
package import ZoetropeProcess
import ZoetropeTerminal

/// Plays a file in a part of a terminal that another program uses. No queries are sent to the terminal, no keys are
/// read, and no modes are set.
///
/// Playback continues until a signal arrives, or until the terminal or the pipe goes away. A signal removes the
/// picture. If playback ends by itself, the last frame stays on the screen.
package enum PreviewPlay {
  package static func run(
    _ input: InputFile, settings: PlayerSettings, preview: PreviewSettings
  ) -> ExitStatus {
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

/// The playback of a preview. A single thread draws, and waits for frames, signals and the loss of the terminal in one
/// place.
private final class PreviewSession {
  /// The way in which playback ended.
  private enum Outcome {
    case finished
    case signal(ExitStatus)
    case gone
    case failed(AnimatedImageError)
    case unwritable(CommandFailure)
  }

  private struct Next {
    var frame: ScheduledFrame
    var due: ContinuousClock.Instant
    /// The bytes that show the frame, or nil if it has not been encoded yet.
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
  /// The region that may have been changed by frames that were skipped.
  private var missed = PixelRect.empty
  /// The frame on the screen, which is kept so that it can be drawn again.
  private var shown: ScheduledFrame?
  /// The time at which the duration of the last frame is over. It is nil until the scheduler has finished.
  private var endsAt: ContinuousClock.Instant?
  private var lastEnd = ContinuousClock.now
  /// Whether the terminal is currently too small for the place of the preview, so that nothing is drawn.
  private var isHidden = false
  /// Whether a signal interrupted the last write.
  private var isCut = false

  init(
    _ opened: OpenedInput, output: PreviewOutput, target: PreviewTarget, settings: PlayerSettings,
    preview: PreviewSettings
  ) {
    (self.opened, self.output, self.settings, self.preview) = (opened, output, settings, preview)
    canvas = PreviewCanvas(target)
    deadline = settings.wallTime.map { .now + $0 }
    // A regular file accepts bytes without delay, so playback that did not end would fill the disk.
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
    // Frames are requested one at a time, so that the scheduler skips frames while the terminal accepts no output.
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
    case .unwritable(let failure): throw failure
    case .finished, nil:
      guard let error = opened.stream?.progress.ending?.error else { return .success }
      throw CommandFailure(error, file: input.name, damage: settings.decoding.damage)
    }
  }

  /// Does everything that can be done now, and then waits once.
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

  /// Takes the next frame and encodes it. A frame that could not be encoded yet is skipped once the frame after it is
  /// due.
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
    case .failed(let failure): outcome = .unwritable(failure)
    }
  }

  /// Ensures that fatal signals remove the picture too.
  private func arm() {
    guard output.isTerminal, armedArea != canvas.area else { return }
    armedArea = canvas.area
    TerminalGuard.arm(
      restore: canvas.target.abort + PreviewCanvas.close + canvas.removal, rawMode: nil,
      descriptor: output.descriptor.rawValue)
  }
  private var armedArea: CellRect?

  /// Draws the whole picture again after the terminal was resized or used by other programs. If the terminal has become
  /// too small, only removes the picture.
  private func drawAgain() {
    let target = try? PreviewTarget(
      preview, isTerminal: output.isTerminal, imageID: canvas.target.imageID)
    isHidden = target == nil
    var bytes = canvas.move(to: target ?? canvas.target)
    // The next frame was encoded for the old place, so it must be encoded again.
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
