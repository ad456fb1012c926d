import ZoetropeTerminal

/// Input that was read but not handled yet.
struct InputQueue: Sendable {
  var decoder: InputDecoder
  /// Events that were read while a frame was encoded; they are handled before the next frame is encoded.
  private(set) var events: [InputEvent] = []
  /// When a lone ESC counts as the key.
  private(set) var escapeAt: ContinuousClock.Instant?
  /// When input was last checked while a frame was encoded.
  private var lookedAt = ContinuousClock.now

  init(_ decoder: InputDecoder) { self.decoder = decoder }

  /// Decodes bytes; returns the new events.
  mutating func feed(_ bytes: [UInt8]) -> [InputEvent] {
    let new = decoder.feed(bytes)
    events += new
    awaitEscape()
    return new
  }

  /// Waits for the bytes after an ESC, if the input ends with one.
  mutating func awaitEscape() {
    escapeAt = decoder.hasPending ? .now + .milliseconds(25) : nil
  }

  /// Treats an ESC as the key if nothing has followed it in time.
  mutating func settle(at now: ContinuousClock.Instant) {
    guard let time = escapeAt, time <= now else { return }
    escapeAt = nil
    events += decoder.flush()
  }

  /// Takes the events.
  mutating func take() -> [InputEvent] {
    defer { events = [] }
    return events
  }

  /// Whether to check for input again while a frame is encoded: every 20 ms.
  mutating func isTimeToLook(at now: ContinuousClock.Instant) -> Bool {
    guard now - lookedAt > .milliseconds(20) else { return false }
    lookedAt = now
    return true
  }

  /// Whether a key that waits ends the file that is playing, or replaces what is drawn.
  var hasInterrupt: Bool {
    events.contains {
      if case .key(let key) = $0 { PlayerModel.interrupts(key) } else { false }
    }
  }
}
