internal import Zoetrope

/// Reads what a terminal says in strings: `DCS`, `OSC` and `APC`.
enum ReplyParser {
  /// Reads the body of a string that began with ESC and `kind`.
  static func string(kind: UInt8, _ body: [UInt8]) -> TerminalReply {
    let text = String(decoding: body, as: UTF8.self)
    switch kind {
    case 0x50: return device(text)
    case 0x5D: return system(text)
    case 0x5F: return application(text)
    default: return .other
    }
  }

  private static func device(_ text: String) -> TerminalReply {
    if text.hasPrefix(">|") {
      return .version(TerminalText.sanitized(String(text.dropFirst(2)), limit: 64))
    }
    if text.hasPrefix("1$r") { return .setting(String(text.dropFirst(3))) }
    if text.hasPrefix("0$r") { return .setting(nil) }
    return .other
  }

  private static func system(_ text: String) -> TerminalReply {
    let parts = text.split(separator: ";", maxSplits: 1)
    guard parts.count == 2, let item = Int(parts[0]), let color = color(parts[1]) else {
      return .other
    }
    return .color(item, color)
  }

  /// `rgb:R/G/B` or `rgba:R/G/B/A` with one to four hexadecimal digits each, or `#RRGGBB`.
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

  private static func application(_ text: String) -> TerminalReply {
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
