internal import ZoetropeFrames

/// The meaning of a `CSI` sequence in a terminal's input.
enum ControlSequence: Hashable {
  case key(KeyEvent)
  case mouse(MouseEvent)
  /// The beginning or the end of pasted text.
  case paste(isStart: Bool)
  case reply(TerminalReply.Content)

  /// Parses the bytes that follow `CSI`, including the final byte. Returns nil if the sequence has no known meaning.
  init?(_ body: [UInt8]) {
    guard let final = body.last else { return nil }
    let isMarked = (0x3C...0x3F).contains(body[0]) && body.count > 1
    let mark: UInt8 = isMarked ? body[0] : 0
    let inner = body[(isMarked ? 1 : 0)..<body.count - 1]
    let middle = inner.last.map { (0x20...0x2F).contains($0) ? $0 : 0 } ?? 0
    let numbers = Self.numbers(inner)
    if mark == 0x3C, middle == 0, final == 0x4D || final == 0x6D, numbers.count == 3 {
      let event = MouseEvent(
        code: numbers[0], column: numbers[1], row: numbers[2], isRelease: final == 0x6D)
      guard let event else { return nil }
      self = .mouse(event)
    } else if let reply = Self.reply(mark: mark, middle: middle, final: final, numbers) {
      self = .reply(reply)
    } else if mark == 0, middle == 0, let key = Self.key(final: final, numbers, inner) {
      self = key
    } else {
      return nil
    }
  }

  /// Returns the parameters of a sequence. An empty parameter is 0, subparameters are dropped, and numbers are clamped
  /// to a million.
  private static func numbers(_ bytes: ArraySlice<UInt8>) -> [Int] {
    var numbers: [Int] = []
    var value = 0
    var isSub = false
    for byte in bytes {
      switch byte {
      case 0x30...0x39:
        if !isSub { value = min(value * 10 + Int(byte) - 48, 1_000_000) }
      case 0x3B:
        numbers.append(value)
        value = 0
        isSub = false
      case 0x3A: isSub = true
      default: break
      }
    }
    if !bytes.isEmpty { numbers.append(value) }
    return numbers
  }

  private static func reply(
    mark: UInt8, middle: UInt8, final: UInt8, _ numbers: [Int]
  ) -> TerminalReply.Content? {
    let question: UInt8 = 0x3F
    switch (mark, middle, final, numbers.count) {
    case (question, 0, 0x63, _): return .attributes(numbers)
    case (0x3E, 0, 0x63, _): return .other
    case (question, 0x24, 0x79, 2): return .mode(numbers[0], state: numbers[1])
    case (question, 0, 0x75, 1): return .keyboard(numbers[0])
    case (question, 0, 0x53, 2...):
      return .graphicsLimits(
        item: numbers[0], status: numbers[1], values: Array(numbers.dropFirst(2)))
    case (0, 0, 0x6E, 1): return numbers[0] == 0 ? .ready : nil
    // F3 with modifiers is sent as `1;2 R` to `1;16 R`, which is also the form of a report of a cursor in row 1. A
    // sequence with row 1 is therefore taken as a report only if it has a question mark.
    case (question, 0, 0x52, 2...): return .cursor(row: numbers[0], column: numbers[1])
    case (0, 0, 0x52, 2) where numbers[0] > 1:
      return .cursor(row: numbers[0], column: numbers[1])
    case (0, 0, 0x74, 3): return size(numbers)
    case (0, 0, 0x74, 5) where numbers[0] == 48:
      return .resized(
        ScreenSize(
          columns: numbers[2], rows: numbers[1], pixelWidth: numbers[4], pixelHeight: numbers[3]))
    default: return nil
    }
  }

  private static func size(_ numbers: [Int]) -> TerminalReply.Content? {
    let size = PixelSize(width: numbers[2], height: numbers[1])
    guard !size.isEmpty else { return .other }
    switch numbers[0] {
    case 4: return .textAreaPixels(size)
    case 6: return size.isCell ? .cellSize(size) : .other
    case 8: return .textAreaCells(columns: size.width, rows: size.height)
    default: return .other
    }
  }

  private static func key(
    final: UInt8, _ numbers: [Int], _ inner: ArraySlice<UInt8>
  ) -> ControlSequence? {
    let modifiers = KeyEvent.Modifiers(
      rawValue: numbers.count > 1 ? max(numbers[1] - 1, 0) & 15 : 0)
    switch final {
    case 0x7E: return tilde(numbers.first ?? 0, modifiers)
    case 0x75: return unicode(numbers.first ?? 0, modifiers)
    default:
      if inner.first == 0x5B, (0x41...0x45).contains(final) {
        return .key(KeyEvent(.function(Int(final) - 0x40)))
      }
      return InputDecoder.final(final, modifiers: modifiers).map { .key($0) }
    }
  }

  private static func tilde(_ number: Int, _ modifiers: KeyEvent.Modifiers) -> ControlSequence? {
    let key: KeyEvent.Key
    switch number {
    case 1, 7: key = .home
    case 2: key = .insert
    case 3: key = .delete
    case 4, 8: key = .end
    case 5: key = .pageUp
    case 6: key = .pageDown
    case 11...15: key = .function(number - 10)
    case 17...21: key = .function(number - 11)
    case 23...26: key = .function(number - 12)
    case 28, 29: key = .function(number - 13)
    case 31...34: key = .function(number - 14)
    case 200: return .paste(isStart: true)
    case 201: return .paste(isStart: false)
    default: return nil
    }
    return .key(KeyEvent(key, modifiers))
  }

  private static func unicode(_ code: Int, _ modifiers: KeyEvent.Modifiers) -> ControlSequence? {
    if code < 0x80, let byte = UInt8(exactly: code) {
      let plain = InputDecoder.plain(byte)
      let both = plain.modifiers.union(modifiers)
      if case .character(let character) = plain.key, both.contains(.shift) {
        let upper = Character(character.uppercased())
        return .key(KeyEvent(.character(upper), both.subtracting(.shift)))
      }
      return .key(KeyEvent(plain.key, both))
    }
    guard let scalar = Unicode.Scalar(UInt32(code)), !(0xE000...0xF8FF).contains(code) else {
      return nil
    }
    return .key(KeyEvent(.character(Character(scalar)), modifiers))
  }
}

/// Parses the strings that a terminal sends: `DCS`, `OSC` and `APC`.
enum ReplyParser {
  /// Returns the meaning of a string that began with ESC and `kind`. `body` is the string without its introducer and
  /// terminator.
  static func string(kind: UInt8, _ body: [UInt8]) -> TerminalReply.Content {
    let text = String(decoding: body, as: UTF8.self)
    switch kind {
    case 0x50: return device(text)
    case 0x5D: return system(text)
    case 0x5F: return application(text)
    default: return .other
    }
  }

  private static func device(_ text: String) -> TerminalReply.Content {
    if text.hasPrefix(">|") {
      return .version(TerminalText.sanitized(String(text.dropFirst(2)), limit: 64))
    }
    if text.hasPrefix("1$r") { return .setting(String(text.dropFirst(3))) }
    if text.hasPrefix("0$r") { return .setting(nil) }
    return .other
  }

  private static func system(_ text: String) -> TerminalReply.Content {
    let parts = text.split(separator: ";", maxSplits: 1)
    guard parts.count == 2, let item = Int(parts[0]), let color = color(parts[1]) else {
      return .other
    }
    return .color(item, color)
  }

  /// Parses a colour in the form `rgb:R/G/B` or `rgba:R/G/B/A`, with one to four hexadecimal digits for each channel,
  /// or in the form `#RRGGBB`.
  private static func color(_ text: Substring) -> TerminalColor? {
    var fields: [Substring] = []
    if text.hasPrefix("rgb:") || text.hasPrefix("rgba:") {
      fields = text[text.index(after: text.firstIndex(of: ":") ?? text.startIndex)...]
        .split(separator: "/")
    } else if text.hasPrefix("#"), text.utf8.count == 7 {
      let digits = text.dropFirst()
      fields = [digits.prefix(2), digits.dropFirst(2).prefix(2), digits.suffix(2)]
    }
    guard fields.count >= 3 else { return nil }
    var channels: [UInt8] = []
    for field in fields.prefix(3) {
      guard (1...4).contains(field.utf8.count), let value = Int(field, radix: 16), value >= 0 else {
        return nil
      }
      let most = (1 << (4 * field.utf8.count)) - 1
      channels.append(UInt8((value * 255 + most / 2) / most))
    }
    return TerminalColor(red: channels[0], green: channels[1], blue: channels[2])
  }

  private static func application(_ text: String) -> TerminalReply.Content {
    guard text.hasPrefix("G") else { return .other }
    let parts = text.dropFirst().split(
      separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
    var id = 0
    for pair in parts[0].split(separator: ",") where pair.hasPrefix("i=") {
      id = Int(pair.dropFirst(2)) ?? 0
    }
    return .graphics(
      id: id, message: TerminalText.sanitized(parts.count > 1 ? String(parts[1]) : "", limit: 128))
  }
}
