import Zoetrope

/// The frames between the scheduler and the screen.
struct PlayerFrames: Sendable {
  /// What has to be redrawn.
  enum Redraw: Sendable, Comparable {
    case nothing
    /// The picture, because another part of it becomes visible.
    case picture
    case screen
  }

  /// The frame on screen; nil before the first.
  private(set) var shown: ScheduledFrame?
  /// The next frame, and its bytes once it is encoded.
  var next: (frame: ScheduledFrame, due: ContinuousClock.Instant, bytes: [UInt8]?)?
  /// Where frames that were not drawn may have changed the picture; nil means everywhere.
  private var missed: PixelRect? = .empty
  /// When the duration of ``shown`` is over; nil before the first frame.
  private(set) var shownUntil: ContinuousClock.Instant?
  /// When the file ends, once its scheduler has finished.
  var endsAt: ContinuousClock.Instant?
  /// What to redraw as soon as the link has room.
  ///
  /// Keys arrive faster than a slow link transmits pictures, so several requests become one.
  private(set) var redraw = Redraw.nothing

  /// Whether the next frame waits to be encoded.
  var isNextPlain: Bool { next.map { $0.bytes == nil } ?? false }

  /// Makes `frame` the next one, in place of a frame that was not encoded in time; returns whether there was one.
  mutating func take(_ frame: ScheduledFrame, due: ContinuousClock.Instant) -> Bool {
    let late = next?.frame
    if let late { missed = missed.map { $0.union(late.dirtyRect) } }
    next = (frame, due, nil)
    return late != nil
  }

  /// The next frame, which is about to be encoded.
  mutating func pictureOfNext() -> Picture? {
    guard let frame = next?.frame else { return nil }
    let changed = missed.map { $0.union(frame.dirtyRect) }
    missed = .empty
    return Picture(
      bitmap: frame.bitmap, index: frame.index, dirtyRect: frame.dirtyRect, changed: changed)
  }

  /// The frame on screen, which is about to be redrawn; nil before the first one.
  mutating func pictureOfShown() -> Picture? {
    redraw = .nothing
    missed = shown == nil ? nil : .empty
    return shown.map {
      Picture(bitmap: $0.bitmap, index: $0.index, dirtyRect: $0.dirtyRect, changed: nil)
    }
  }

  /// Makes the next frame the one on screen; under an overlay it was not drawn.
  mutating func showNext(isCovered: Bool) -> (frame: ScheduledFrame, bytes: [UInt8]?)? {
    guard let (frame, due, bytes) = next.take() else { return nil }
    shown = frame
    shownUntil = due + frame.duration
    if isCovered { missed = nil }
    return (frame, bytes)
  }

  /// Requests a redraw. Drops the bytes of a frame that was encoded ahead, because they assume the previous screen.
  mutating func request(_ what: Redraw) {
    redraw = max(redraw, what)
    next?.bytes = nil
  }

  /// Forgets the frames of a scheduler that is replaced, or seeks.
  mutating func forgetScheduler() {
    next = nil
    missed = nil
    endsAt = nil
  }

  /// Forgets the frames of a file.
  mutating func forgetFile() {
    forgetScheduler()
    shown = nil
    redraw = .nothing
  }
}
