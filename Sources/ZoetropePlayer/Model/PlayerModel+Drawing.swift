import Zoetrope
import ZoetropeTerminal

extension PlayerModel {
  /// Returns whether to take the oldest delivered item now. This is the case if there is no next frame, or if late
  /// frames are dropped and the next frame could not be encoded before the delivered frame is due.
  func takes(due: ContinuousClock.Instant?, at now: ContinuousClock.Instant) -> Bool {
    guard let next = frames.next else { return true }
    let drops = options.latePolicy == .skip || options.latePolicy == .latest
    return next.bytes == nil && drops && due.map { $0 <= now } ?? false
  }

  /// Returns whether the next frame can be shown now.
  func isDue(at now: ContinuousClock.Instant) -> Bool {
    frames.next.map { $0.due <= now && ($0.bytes != nil || overlay != nil) } ?? false
  }

  /// Whether a redraw was requested and can be performed once there is room.
  var wantsRedraw: Bool { overlay == nil && frames.redraw != .nothing }

  /// Whether a picture is waiting for room on the link to the terminal.
  var wantsRoom: Bool { wantsRedraw || overlay == nil && frames.isNextPlain }

  /// Performs the requested redraw, or encodes the next frame. Nothing is encoded before it can be sent, because
  /// another frame may be due by the time there is room.
  mutating func useRoom() -> [PlayerEffect] {
    guard wantsRoom else { return [] }
    if wantsRedraw {
      let clears = frames.redraw == .screen || !stage.keepsPlace
      if clears { status.forget() }
      let picture = frames.pictureOfShown()
      if let picture { stage.place(picture.bitmap) }
      return [.redraw(picture, clears: clears)]
    }
    guard let picture = frames.pictureOfNext() else { return [] }
    stage.place(picture.bitmap)
    return [.encode(picture)]
  }

  /// Completes a redraw with the status rows. Everything is sent as one synchronized update, so that the text never
  /// appears without the picture.
  mutating func redrawn(
    _ bytes: [UInt8], isWhole: Bool, at now: ContinuousClock.Instant
  ) -> [PlayerEffect] {
    if !isWhole { frames.request(.screen) }
    if frames.shown != nil { hasDrawn = true }
    var bytes = bytes
    if let status = changedStatus(now: true, at: now) { stage.append(status, to: &bytes) }
    stage.synchronize(&bytes)
    return [.writePicture(bytes)]
  }

  /// Shows the next frame. Under an overlay, the frame is recorded but not drawn.
  mutating func showNext(at now: ContinuousClock.Instant) -> [PlayerEffect] {
    guard isDue(at: now), let (frame, made) = frames.showNext(isCovered: overlay != nil) else {
      return []
    }
    position = frame.index
    var effects: [PlayerEffect] = []
    if savesTarget { effects = saveFrame() + [.refresh] }
    if overlay != nil { return effects }
    hasDrawn = true
    var bytes = made ?? []
    if let status = changedStatus(now: false, at: now) { stage.append(status, to: &bytes) }
    statistics.shown += 1
    statistics.dropped += frame.skipped
    statistics.byteCount += bytes.count
    return [.writePicture(bytes)] + effects
  }

  /// Requests that everything be redrawn with a new encoder as soon as there is room.
  mutating func repaint() -> [PlayerEffect] {
    frames.request(.screen)
    if let overlay { return cover(with: overlay) }
    return [.offerRoom]
  }

  /// Requests that the picture be redrawn as soon as there is room, because another part of it becomes visible.
  mutating func reframe() -> [PlayerEffect] {
    frames.request(.picture)
    return [.offerRoom]
  }

  /// Adapts the layout to a new screen size and redraws everything.
  mutating func fit(_ screen: ScreenSize) -> [PlayerEffect] {
    stage.screen = screen
    if settings.isInline {
      stage.room.columns = screen.columns
      // The row below the picture is the shell's.
      stage.room.rows = min(stage.room.rows, max(screen.rows - 1, 1))
      stage.room.row = max(0, min(stage.room.row, screen.rows - 1 - stage.room.rows))
    } else {
      stage.room = plan.room
    }
    let effects = overlay.map { cover(with: $0) } ?? repaint()
    return hasDrawn ? [.dropOutput] + effects : effects
  }
}
