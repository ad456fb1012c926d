import ZoetropeTerminal

/// Input that was read but has not been handled yet.
struct InputQueue: Sendable {
  var decoder: InputDecoder
  /// The events that have not been handled yet. Events that are read while a frame is encoded are handled before the
  /// next frame is encoded.
  private(set) var events: [InputEvent] = []
  /// The time at which a pending ESC byte is treated as the Escape key, or nil if no such byte is pending.
  private(set) var escapeAt: ContinuousClock.Instant?
  /// The time at which input was last checked while a frame was encoded.
  private var lookedAt = ContinuousClock.now

  init(_ decoder: InputDecoder) { self.decoder = decoder }

  /// Decodes bytes, and returns the new events.
  mutating func feed(_ bytes: [UInt8]) -> [InputEvent] {
    let new = decoder.feed(bytes)
    events += new
    awaitEscape()
    return new
  }

  /// Starts to wait for further bytes if the input ends with an ESC byte.
  mutating func awaitEscape() {
    escapeAt = decoder.hasPending ? .now + .milliseconds(25) : nil
  }

  /// Treats a pending ESC byte as the Escape key if no byte has followed it in time.
  mutating func settle(at now: ContinuousClock.Instant) {
    guard let time = escapeAt, time <= now else { return }
    escapeAt = nil
    events += decoder.flush()
  }

  /// Removes and returns all events.
  mutating func take() -> [InputEvent] {
    defer { events = [] }
    return events
  }

  /// Returns whether to check for input again while a frame is encoded. This is the case every 20 ms.
  mutating func isTimeToLook(at now: ContinuousClock.Instant) -> Bool {
    guard now - lookedAt > .milliseconds(20) else { return false }
    lookedAt = now
    return true
  }

  /// Whether the events contain a key that ends playback of the file or replaces what is drawn.
  var hasInterrupt: Bool {
    events.contains {
      if case .key(let key) = $0 { PlayerModel.interrupts(key) } else { false }
    }
  }
}
