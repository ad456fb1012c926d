import Zoetrope

/// The frame on the screen and the frame to be shown next.
struct PlayerFrames: Sendable {
  /// The extent of a redraw.
  enum Redraw: Sendable, Comparable {
    case nothing
    /// Only the picture is redrawn, because another part of it becomes visible.
    case picture
    case screen
  }

  /// The frame on the screen, or nil before the first frame is shown.
  private(set) var shown: ScheduledFrame?
  /// The next frame, the time at which it is due, and its bytes if it has been encoded.
  var next: (frame: ScheduledFrame, due: ContinuousClock.Instant, bytes: [UInt8]?)?
  /// The region that may have been changed by frames that were not drawn, or nil if that may be the whole picture.
  private var missed: PixelRect? = .empty
  /// Whether the next frame does not follow ``shown``, because the scheduler was replaced or has sought. Its dirty
  /// rectangle then does not tell what differs from the screen.
  private var isDetached = false
  /// The time at which the duration of ``shown`` is over, or nil before the first frame is shown.
  private(set) var shownUntil: ContinuousClock.Instant?
  /// The time at which the file ends. It is nil until the scheduler has finished.
  var endsAt: ContinuousClock.Instant?
  /// The redraw to perform as soon as the link to the terminal has room.
  ///
  /// Keys arrive faster than a slow link transmits pictures, so several requests are combined into one.
  private(set) var redraw = Redraw.nothing

  /// Whether there is a next frame that has not been encoded yet.
  var isNextPlain: Bool { next.map { $0.bytes == nil } ?? false }

  /// Makes `frame` the next frame. A next frame that was not encoded in time is dropped. Returns whether a frame was
  /// dropped.
  mutating func take(_ frame: ScheduledFrame, due: ContinuousClock.Instant) -> Bool {
    let late = next?.frame
    if let late { missed = missed.map { $0.union(late.dirtyRect) } }
    next = (frame, due, nil)
    return late != nil
  }

  /// Returns the picture of the next frame, which is about to be encoded, or nil if there is no next frame.
  mutating func pictureOfNext() -> Picture? {
    guard let frame = next?.frame else { return nil }
    let changed = isDetached ? nil : missed.map { $0.union(frame.dirtyRect) }
    missed = .empty
    isDetached = false
    return Picture(
      bitmap: frame.bitmap, index: frame.index, dirtyRect: frame.dirtyRect, changed: changed)
  }

  /// Returns the picture of the frame on the screen, which is about to be redrawn, or nil before the first frame is
  /// shown.
  mutating func pictureOfShown() -> Picture? {
    redraw = .nothing
    missed = shown == nil ? nil : .empty
    return shown.map {
      Picture(bitmap: $0.bitmap, index: $0.index, dirtyRect: $0.dirtyRect, changed: nil)
    }
  }

  /// Makes the next frame the frame on the screen. If `isCovered` is true, an overlay covers the picture, and the frame
  /// was not drawn.
  mutating func showNext(isCovered: Bool) -> (frame: ScheduledFrame, bytes: [UInt8]?)? {
    guard let (frame, due, bytes) = next.take() else { return nil }
    shown = frame
    shownUntil = due + frame.duration
    if isCovered { missed = nil }
    return (frame, bytes)
  }

  /// Requests a redraw. The bytes of a frame that was encoded ahead are dropped, because they assume the previous
  /// contents of the screen.
  mutating func request(_ what: Redraw) {
    redraw = max(redraw, what)
    next?.bytes = nil
  }

  /// Drops the frames of the scheduler, which is about to be replaced or to seek.
  mutating func forgetScheduler() {
    // The encoder takes a frame that was encoded ahead for shown, so it must start again.
    if next?.bytes != nil { redraw = max(redraw, .picture) }
    next = nil
    isDetached = true
    endsAt = nil
  }

  /// Drops all frames of the file, including the frame on the screen.
  mutating func forgetFile() {
    forgetScheduler()
    shown = nil
    redraw = .nothing
  }
}
