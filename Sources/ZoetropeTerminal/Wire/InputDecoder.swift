/// An event decoded from a terminal's input.
public enum InputEvent: Sendable, Hashable {
  /// The user pressed a key.
  case key(KeyEvent)
  /// The user pressed or released a mouse button, dragged the mouse or turned its wheel. These events occur only if the
  /// ``TerminalMode`` requests them.
  case mouse(MouseEvent)
  /// The terminal sent a reply or an unsolicited report.
  case reply(TerminalReply)
}

/// Decodes the bytes of a terminal's input into keys, mouse events and replies.
///
/// The decoder is a value that performs no input itself. Feed it the bytes that you have read, in pieces of any size.
/// Unknown sequences are consumed whole, so a late reply is never mistaken for keys. A single ESC byte is held back
/// until more bytes arrive. If no bytes arrive for some time (25 ms is usual), call ``flush()``. A sequence longer than
/// 4 KiB is discarded up to its end.
public struct InputDecoder: Sendable {
  private var pending: [UInt8] = []
  private var isPasting = false
  /// The byte after the ESC of the overlong sequence that is being discarded, or nil if none is.
  private var skippedKind: UInt8?
  private static let limit = 4096
  /// The bytes that introduce a string after ESC: DCS, SOS, OSC, PM and APC (ECMA-48, 5.6).
  private static let stringIntroducers: Set<UInt8> = [0x50, 0x58, 0x5D, 0x5E, 0x5F]

  /// Creates a decoder that holds back no bytes.
  public init() {}

  /// Whether the decoder holds back bytes that may begin a sequence.
  public var hasPending: Bool { !pending.isEmpty }

  /// Decodes `bytes`, and returns the events that they complete.
  public mutating func feed(_ bytes: [UInt8]) -> [InputEvent] {
    var events: [InputEvent] = []
    for byte in bytes { push(byte, &events) }
    return events
  }

  /// Decodes bytes that are held back but do not begin a sequence. Call this method if no more bytes have arrived for
  /// some time.
  ///
  /// A single ESC byte is returned as the Escape key, and ESC followed only by a character that introduces sequences,
  /// such as `[`, as that character typed with Alt. Longer unfinished sequences are kept, because their remaining bytes
  /// are probably still on the way.
  public mutating func flush() -> [InputEvent] {
    guard skippedKind == nil else { return [] }
    if pending == [0x1B] {
      pending = []
      return [.key(KeyEvent(.escape))]
    }
    // ESC followed only by the second byte of a sequence introducer is a character typed with Alt.
    if pending.count == 2, pending[0] == 0x1B,
      pending[1] == 0x5B || pending[1] == 0x4F || Self.stringIntroducers.contains(pending[1])
    {
      let character = Character(Unicode.Scalar(pending[1]))
      pending = []
      return [.key(KeyEvent(.character(character), .alt))]
    }
    return []
  }

  private mutating func push(_ byte: UInt8, _ events: inout [InputEvent]) {
    if pending.isEmpty {
      if byte == 0x1B || byte >= 0x80 {
        pending = [byte]
        if byte >= 0x80 { finishCharacter(&events) }
      } else {
        emit(Self.plain(byte), &events)
      }
      return
    }
    // CAN and SUB end any sequence.
    if pending[0] == 0x1B || skippedKind != nil, byte == 0x18 || byte == 0x1A {
      (pending, skippedKind) = ([], nil)
      return
    }
    if skippedKind != nil, byte == 3 {
      // The end of the sequence was lost, and the user wants to get out.
      (pending, skippedKind) = ([], nil)
      push(byte, &events)
      return
    }
    if let skippedKind {
      skip(byte, ofSequence: skippedKind, &events)
      return
    }
    pending.append(byte)
    if pending[0] >= 0x80 {
      finishCharacter(&events)
    } else {
      finishSequence(&events)
    }
    if pending.count > Self.limit {
      skippedKind = pending[1]
      pending = Array(pending.suffix(1))
    }
  }

  /// Discards a byte of an overlong sequence, which is a control sequence or a string.
  private mutating func skip(
    _ byte: UInt8, ofSequence kind: UInt8, _ events: inout [InputEvent]
  ) {
    let last = pending.last
    pending = [byte]
    let isControl = kind == 0x5B
    let isEnd =
      isControl
      ? (0x40...0x7E).contains(byte) || byte == 0x1B
      : byte == 7 || (last == 0x1B && byte == 0x5C)
    guard isEnd else { return }
    (pending, skippedKind) = ([], nil)
    // An ESC within a control sequence begins the next sequence.
    if isControl, byte == 0x1B { push(byte, &events) }
  }

  private mutating func emit(_ key: KeyEvent, _ events: inout [InputEvent]) {
    // Terminals do not paste Ctrl-C, neither as a byte nor as a sequence of the kitty keyboard protocol. The end of the
    // pasted text was lost, and the user wants to get out.
    if key.key == .character("c"), key.modifiers.contains(.control) { isPasting = false }
    // Keys in pasted text are not commands.
    if !isPasting { events.append(.key(key)) }
  }

  private mutating func finishCharacter(_ events: inout [InputEvent]) {
    let first = pending[0]
    let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1
    let isBroken = length == 1 || pending.dropFirst().contains { $0 & 0xC0 != 0x80 }
    if isBroken {
      let last = pending.count > 1 ? pending.last : nil
      pending = []
      // The byte that interrupted the character may begin another character or a sequence.
      if let last { push(last, &events) }
      return
    }
    guard pending.count == length else { return }
    let text = String(decoding: pending, as: UTF8.self)
    pending = []
    if let character = text.first, character != "\u{FFFD}" {
      emit(KeyEvent(.character(character)), &events)
    }
  }

  private mutating func finishSequence(_ events: inout [InputEvent]) {
    guard pending.count >= 2 else { return }
    let last = pending[pending.count - 1]
    // No sequence contains Ctrl-C. This was a character typed with Alt, or the end of the sequence was lost, and the
    // user wants to get out.
    if last == 3, pending.count > 2 {
      pending = []
      push(last, &events)
      return
    }
    switch pending[1] {
    case 0x5B:
      guard pending.count >= 3 else { return }
      // The function keys of the Linux console have an additional bracket.
      if pending.count == 3, last == 0x5B { return }
      if pending[2] == 0x4D, last != 0x1B {
        finishOldMouse(&events)
        return
      }
      guard (0x40...0x7E).contains(last) || last == 0x1B else { return }
      let body = Array(pending[2...])
      pending = []
      if last == 0x1B {
        push(0x1B, &events)
      } else {
        control(body, &events)
      }
    case 0x4F:
      guard pending.count == 3 else { return }
      pending = []
      if let key = Self.final(last, modifiers: []) { emit(key, &events) }
    case let kind where Self.stringIntroducers.contains(kind):
      let isTerminated =
        last == 7 || (last == 0x5C && pending.count > 2 && pending[pending.count - 2] == 0x1B)
      guard isTerminated else { return }
      let body = Array(pending[2..<pending.count - (last == 7 ? 1 : 2)])
      pending = []
      events.append(.reply(TerminalReply(ReplyParser.string(kind: kind, body))))
    case 0x1B:
      // The first ESC is the Escape key, and the second may begin a sequence.
      pending = [0x1B]
      emit(KeyEvent(.escape), &events)
    default:
      pending = []
      if last >= 0x80 {
        push(last, &events)
      } else {
        let key = Self.plain(last)
        emit(KeyEvent(key.key, key.modifiers.union(.alt)), &events)
      }
    }
  }

  /// Consumes a report of the mouse in the form that preceded SGR: three bytes after `CSI M`.
  ///
  /// Terminals without mode 1006 send this form. The report is dropped, because it cannot represent columns far to the
  /// right.
  private mutating func finishOldMouse(_ events: inout [InputEvent]) {
    guard pending.count == 6 else { return }
    pending = []
    events.append(.reply(.other))
  }

  private mutating func control(_ body: [UInt8], _ events: inout [InputEvent]) {
    switch ControlSequence(body) {
    case .key(let key)?: emit(key, &events)
    case .mouse(let mouse)?: events.append(.mouse(mouse))
    case .paste(let isStart)?: isPasting = isStart
    case .reply(let reply)?: events.append(.reply(TerminalReply(reply)))
    case nil: events.append(.reply(.other))
    }
  }

  /// Returns the key for a byte below 0x80.
  static func plain(_ byte: UInt8) -> KeyEvent {
    switch byte {
    case 13, 10: KeyEvent(.enter)
    case 9: KeyEvent(.tab)
    case 8, 127: KeyEvent(.backspace)
    case 0: KeyEvent(.character(" "), .control)
    case 27: KeyEvent(.escape)
    case 1...26: KeyEvent(.character(Character(Unicode.Scalar(byte + 96))), .control)
    case 28...31: KeyEvent(.character(Character(Unicode.Scalar(byte + 64))), .control)
    default: KeyEvent(.character(Character(Unicode.Scalar(byte))))
    }
  }

  /// Returns the key for a sequence that ends in `byte`, or nil if there is no such key.
  static func final(_ byte: UInt8, modifiers: KeyEvent.Modifiers) -> KeyEvent? {
    let key: KeyEvent.Key
    switch byte {
    case 0x41: key = .up
    case 0x42: key = .down
    case 0x43: key = .right
    case 0x44: key = .left
    case 0x46: key = .end
    case 0x48: key = .home
    case 0x4D: key = .enter
    case 0x50...0x53: key = .function(Int(byte) - 0x4F)
    case 0x5A: return KeyEvent(.tab, .shift)
    default: return nil
    }
    return KeyEvent(key, modifiers)
  }
}
