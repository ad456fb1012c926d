public import CZoetrope
internal import Zoetrope

// Unsafe: arguments come from C, under the header's contract. `ForeignMemory` checks and copies them.

/// Implements `zoetrope_play`, which zoetrope.h documents.
@c(zoetrope_play)
public func play(
  _ animation: OpaquePointer?, _ rendering: UnsafePointer<zoetrope_rendering>?,
  _ playback: UnsafePointer<zoetrope_playback>?, _ shown: zoetrope_shown_callback?,
  _ ended: zoetrope_ended_callback?, _ context: UnsafeMutableRawPointer?,
  _ player: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe write(nil, to: player)
  return unsafe attempt(error) { () throws(AnimatedImageError) in
    let handle = try unsafe object(animation, AnimationHandle.self, "animation")
    let target = try unsafe required(player, "player")
    let callbacks = unsafe ForeignCallbacks(
      shown: try required(shown, "shown"), ended: ended, context: context)
    let given = try unsafe read(rendering, over: zoetrope_rendering(), "zoetrope_rendering")
    let request = try FrameRequest(given, of: handle.image)
    guard request.bytesPerPixel != 3 else {
      throw AnimatedImageError(
        .parameter, "format is ZOETROPE_RGB8, which playback does not support; use ZOETROPE_RGBX8")
    }
    let wanted = try unsafe read(playback, over: zoetrope_playback(), "zoetrope_playback")
    let options = try wanted.options(of: handle)
    let made = try Player(handle.image, request.rendering, options)
    // Write the handle before playback starts, because callbacks may use it.
    unsafe write(ZoetropeC.handle(owning: made), to: target)
    made.start(shown: { callbacks.show($0) }, ended: { callbacks.end($0) })
  }
}

extension zoetrope_playback {
  fileprivate func options(of handle: AnimationHandle) throws(AnimatedImageError) -> PlaybackOptions
  {
    let policies: [PlaybackOptions] = [PlaybackOptions(), .everyFrame]
    var options = try value(late, of: policies, "late")
    options.delayPolicy = try value(delays, of: delayPolicies, "delays")
    options.startIndex = try handle.checkFrame(start_frame)
    guard plays >= -1 else {
      throw AnimatedImageError(.parameter, "plays is \(plays); it must be -1 or more")
    }
    if plays != 0 { options.playCount = plays < 0 ? .indefinite : .finite(Int(plays)) }
    guard rate >= 0 else {
      throw AnimatedImageError(.parameter, "rate is \(rate); it must be 0 or more")
    }
    if rate > 0 { options.rate = rate }
    return options
  }
}

/// The callbacks of a player.
@safe
private struct ForeignCallbacks {
  /// The C callbacks. They are called on the player's own thread.
  private let promised:
    Promised<
      (
        shown: zoetrope_shown_callback, ended: zoetrope_ended_callback?,
        context: UnsafeMutableRawPointer?
      )
    >

  init(
    shown: zoetrope_shown_callback, ended: zoetrope_ended_callback?,
    context: UnsafeMutableRawPointer?
  ) { unsafe promised = Promised((shown, ended, context)) }

  /// Passes a frame to the callback. Returns false if the callback asks to stop playback.
  func show(_ frame: borrowing ScheduledFrame) -> Bool {
    var shownFrame = unsafe zoetrope_shown_frame()
    unsafe shownFrame.size = MemoryLayout<zoetrope_shown_frame>.size
    unsafe shownFrame.bytes_per_row = frame.bitmap.bytesPerRow
    unsafe shownFrame.width = Int64(frame.bitmap.width)
    unsafe shownFrame.height = Int64(frame.bitmap.height)
    unsafe shownFrame.index = Int64(frame.index)
    unsafe shownFrame.play = Int64(frame.play)
    let presentation = frame.presentationTime.nanosecondsRoundedUp
    let end = (frame.presentationTime + frame.duration).nanosecondsRoundedUp
    unsafe shownFrame.presentation_ns = presentation
    // The duration is the time until the rounded time of the next frame, so that durations add up.
    unsafe shownFrame.duration_ns = end - presentation
    unsafe shownFrame.lateness_ns = frame.lateness.wholeNanoseconds
    unsafe shownFrame.skipped = Int64(frame.skipped)
    unsafe shownFrame.dirty_x = Int64(frame.dirtyRect.x)
    unsafe shownFrame.dirty_y = Int64(frame.dirtyRect.y)
    unsafe shownFrame.dirty_width = Int64(frame.dirtyRect.width)
    unsafe shownFrame.dirty_height = Int64(frame.dirtyRect.height)
    unsafe shownFrame.is_last = frame.isLast ? 1 : 0
    unsafe shownFrame.is_damaged = frame.damage.map { $0.kind.isTolerated ? 0 : 1 } ?? 0
    return unsafe frame.bitmap.bytes.withUnsafeBytes { bytes in
      unsafe shownFrame.pixels = bytes.baseAddress
      return unsafe promised.value.shown(promised.value.context, &shownFrame) == 0
    }
  }

  func end(_ error: AnimatedImageError?) {
    var ending = zoetrope_error(error)
    unsafe promised.value.ended?(promised.value.context, &ending)
  }
}

/// Implements `zoetrope_player_stop`, which zoetrope.h documents.
@c(zoetrope_player_stop)
public func playerStop(_ player: OpaquePointer?) {
  guard !ForkGuard.isForked else { return }
  (try? unsafe object(player, Player.self, "player"))?.stop()
}

/// Implements `zoetrope_player_pause`, which zoetrope.h documents.
@c(zoetrope_player_pause)
public func playerPause(_ player: OpaquePointer?) {
  guard !ForkGuard.isForked else { return }
  (try? unsafe object(player, Player.self, "player"))?.pause()
}

/// Implements `zoetrope_player_resume`, which zoetrope.h documents.
@c(zoetrope_player_resume)
public func playerResume(_ player: OpaquePointer?) {
  guard !ForkGuard.isForked else { return }
  (try? unsafe object(player, Player.self, "player"))?.resume()
}

/// Implements `zoetrope_player_seek`, which zoetrope.h documents.
@c(zoetrope_player_seek)
public func playerSeek(
  _ player: OpaquePointer?, _ index: Int64, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe attempt(error) { () throws(AnimatedImageError) in
    let held = try unsafe object(player, Player.self, "player")
    try held.seek(toFrame: index)
  }
}

/// Implements `zoetrope_player_seek_time`, which zoetrope.h documents.
@c(zoetrope_player_seek_time)
public func playerSeekTime(
  _ player: OpaquePointer?, _ time: Int64, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe attempt(error) { () throws(AnimatedImageError) in
    let held = try unsafe object(player, Player.self, "player")
    try held.seek(to: .nanoseconds(time))
  }
}

/// Implements `zoetrope_player_set_rate`, which zoetrope.h documents.
@c(zoetrope_player_set_rate)
public func playerSetRate(
  _ player: OpaquePointer?, _ rate: Double, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe attempt(error) { () throws(AnimatedImageError) in
    let held = try unsafe object(player, Player.self, "player")
    // The comparison is also false for NaN.
    guard rate > 0 else {
      throw AnimatedImageError(.parameter, "rate is \(rate); it must be more than 0")
    }
    try held.setRate(rate)
  }
}

/// Implements `zoetrope_player_state`, which zoetrope.h documents.
@c(zoetrope_player_state)
public func playerState(_ player: OpaquePointer?) -> Int32 {
  guard !ForkGuard.isForked,
    let held = try? unsafe object(player, Player.self, "player")
  else { return Int32(ZOETROPE_ENDED) }
  let state = held.state
  if state.isEnded { return Int32(ZOETROPE_ENDED) }
  return Int32(state == .paused ? ZOETROPE_PAUSED : ZOETROPE_PLAYING)
}

/// Implements `zoetrope_player_wait`, which zoetrope.h documents.
@c(zoetrope_player_wait)
public func playerWait(
  _ player: OpaquePointer?, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe attempt(error) { () throws(AnimatedImageError) in
    let held = try unsafe object(player, Player.self, "player")
    guard !held.isCurrent else {
      throw AnimatedImageError(
        .parameter, "zoetrope_player_wait would never return in a callback of the same player")
    }
    if let failure = held.wait() { throw failure }
  }
}

/// Implements `zoetrope_player_free`, which zoetrope.h documents.
@c(zoetrope_player_free)
public func playerFree(_ player: OpaquePointer?) {
  guard !ForkGuard.isForked, let held = unsafe release(player, Player.self) else { return }
  held.stop()
  if !held.isCurrent { _ = held.wait() }
}
