internal import Zoetrope

extension TerminalCapabilities {
  /// All that is known, as one line of JSON.
  public var json: String {
    var fields: [String] = ["\"schema\":\"zoetrope.terminal/1\""]
    func add(_ name: String, _ value: String) { fields.append("\"\(name)\":\(value)") }
    add("name", Self.quoted(name))
    add("protocol", Self.quoted(bestProtocol.rawValue))
    add("glyphs", Self.quoted(bestGlyphs.rawValue))
    add("utf8", "\(hasUTF8)")
    add("colors", Self.quoted(colors.rawValue))
    add("kitty_graphics", "\(hasKittyGraphics)")
    add("kitty_edits", "\(hasKittyEdits)")
    add("iterm2_images", "\(hasITerm2Images)")
    add("sixel", "\(hasSixel)")
    add("sixel_registers", "\(sixelRegisterCount)")
    add("sixel_registers_kept", "\(keepsSixelRegisters || canKeepSixelRegisters)")
    add("synchronized_output", "\(hasSynchronizedOutput)")
    add("in_band_resize", "\(hasInBandResize)")
    add("kitty_keyboard", "\(hasKittyKeyboard)")
    add("status_reports", "\(reportsStatus)")
    add("sextants", "\(drawsSextants)")
    add("octants", "\(drawsOctants)")
    add("cell", cellSize.map { "[\($0.width),\($0.height)]" } ?? "null")
    add("background", background.map { Self.quoted(Self.hexadecimal($0)) } ?? "null")
    add("multiplexer", Self.quoted(multiplexer.rawValue))
    add("remote", "\(isRemote)")
    add("dumb", "\(isDumb)")
    add("answered", "\(didAnswer)")
    return "{" + fields.joined(separator: ",") + "}"
  }

  private static func hexadecimal(_ color: TerminalColor) -> String {
    let digits = String(color.word & 0xFF_FFFF, radix: 16)
    return "#" + String(repeating: "0", count: 6 - digits.count) + digits
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in TerminalText.sanitized(text).unicodeScalars {
      if scalar == "\"" || scalar == "\\" { result += "\\" }
      result.unicodeScalars.append(scalar)
    }
    return result + "\""
  }
}
