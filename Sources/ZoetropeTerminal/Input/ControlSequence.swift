internal import Zoetrope

/// What a `CSI` sequence in the input means.
enum ControlSequence: Hashable {
  case key(KeyEvent)
  /// Pasted text begins or ends.
  case paste(isStart: Bool)
  case reply(TerminalReply)

  /// Reads what follows `CSI`, the final byte last; nil when it means nothing here.
  init?(_ body: [UInt8]) {
    guard let final = body.last else { return nil }
    let isMarked = (0x3C...0x3F).contains(body[0]) && body.count > 1
    let mark: UInt8 = isMarked ? body[0] : 0
    let inner = body[(isMarked ? 1 : 0)..<body.count - 1]
    let middle = inner.last.map { (0x20...0x2F).contains($0) ? $0 : 0 } ?? 0
    let numbers = Self.numbers(inner)
    if let reply = Self.reply(mark: mark, middle: middle, final: final, numbers) {
      self = .reply(reply)
    } else if mark == 0, middle == 0, let key = Self.key(final: final, numbers, inner) {
      self = key
    } else {
      return nil
    }
  }

  /// The parameters; an empty one is 0, what follows a colon is dropped, and no number passes a
  /// million.
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
  ) -> TerminalReply? {
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
    // F3 with modifiers is 1;2 to 1;16 R in the same form as a cursor in row 1.
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

  private static func size(_ numbers: [Int]) -> TerminalReply? {
    let size = PixelSize(width: numbers[2], height: numbers[1])
    guard !size.isEmpty else { return .other }
    switch numbers[0] {
    case 4: return .textAreaPixels(size)
    case 6: return .cellSize(size)
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
