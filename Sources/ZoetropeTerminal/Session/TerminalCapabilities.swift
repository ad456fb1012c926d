public import ZoetropeFrames

/// What is known about a terminal, first from the environment, and then also from the terminal's answers to queries.
public struct TerminalCapabilities: Sendable, Hashable {
  /// The terminal's name and version, according to XTVERSION or the environment. The name is empty if unknown.
  public var name = ""
  /// Whether the terminal accepts UTF-8, according to the locale. If the locale says no, a test decides.
  package var hasUTF8 = true
  /// The colours that the terminal can show.
  package var colors = ColorDepth.indexed
  /// Whether the terminal supports kitty's graphics protocol.
  package var hasKittyGraphics = false
  /// Whether the terminal supports the editing of frames in kitty's graphics protocol (`a=f`).
  package var hasKittyEdits = false
  /// Whether the terminal supports inline images of iTerm2.
  package var hasITerm2Images = false
  /// Whether the terminal supports sixels.
  package var hasSixel = false
  /// The maximum number of colours of a sixel image.
  package var sixelRegisterCount = 256
  /// Whether the terminal keeps sixel colours defined from one image to the next (mode 1070 is reset).
  package var keepsSixelRegisters = false
  /// Whether the terminal keeps sixel colours defined once mode 1070 is reset, which
  /// ``TerminalMode/keepsSixelRegisters`` requests.
  package var canKeepSixelRegisters = false
  /// Whether the terminal supports synchronized output (mode 2026).
  package var hasSynchronizedOutput = false
  /// Whether the terminal can report changes of its size in the input (mode 2048).
  package var hasInBandResize = false
  /// Whether the terminal draws sextants itself, regardless of the font.
  package var drawsSextants = false
  /// Whether the terminal draws octants itself, regardless of the font.
  package var drawsOctants = false
  /// Whether the terminal supports kitty's keyboard protocol.
  package var hasKittyKeyboard = false
  /// Whether the terminal answers `CSI 5 n`, which ``LinkFence`` relies on.
  package var reportsStatus = false
  /// The size of a cell in pixels, or nil if the terminal does not report it.
  public var cellSize: PixelSize?
  /// The colour of the terminal's background, or nil if the terminal does not report it.
  package var background: TerminalColor?
  /// The multiplexer in which the program runs, if any.
  package var multiplexer = Passthrough.none
  /// Whether to send only plain text to the terminal (`TERM=dumb`).
  package var isDumb = false
  /// Whether the terminal is at the other end of an SSH connection.
  package var isRemote = false
  /// Whether the terminal answered the last query of ``TerminalQuery``. If so, all other values are certain.
  package var didAnswer = false

  /// Creates the capabilities of an unknown terminal: 256 colours, and characters instead of graphics.
  package init() {}

  /// The best protocol that the terminal supports. The protocols, best first, are kitty with edits, kitty without
  /// edits, iTerm2, sixels, and cells.
  ///
  /// Inside a multiplexer, the protocol is always cells, because graphics may not pass through.
  package var bestProtocol: GraphicsProtocol {
    if multiplexer != .none || isDumb { return .cells }
    if hasKittyGraphics { return hasKittyEdits ? .kittyEdits : .kittyImages }
    if hasITerm2Images { return .iterm2 }
    return hasSixel ? .sixel : .cells
  }

  /// The best set of block characters for the terminal. Octants are never chosen by default.
  package var bestGlyphs: CellGlyphs { drawsSextants ? .sextants : .fine }

  /// The terminal's background as a backdrop. If the colour of the background is unknown, this is
  /// ``Backdrop/terminal``.
  package var backdrop: Backdrop {
    guard let background else { return .terminal }
    return .color(red: background.red, green: background.green, blue: background.blue)
  }
}

extension TerminalCapabilities {
  /// Creates capabilities from the environment alone.
  ///
  /// Graphics are not inferred from the environment, with one exception: no query exists for iTerm2's inline images, so
  /// terminals that support these are recognized by name.
  public init(environment: TerminalEnvironment) {
    self.init()
    let term = environment["TERM"] ?? ""
    isDumb = term.isEmpty || term == "dumb"
    isRemote = ["SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"].contains { environment.has($0) }
    if environment.has("TMUX") || term.hasPrefix("tmux") {
      multiplexer = .tmux
    } else if environment.has("STY") || term == "screen" || term.hasPrefix("screen.")
      || term.hasPrefix("screen-")
    {
      multiplexer = .screen
    }
    hasUTF8 = !environment.deniesUTF8
    colors = colors(environment, term: term)
    name = environment["TERM_PROGRAM"] ?? environment["LC_TERMINAL"] ?? ""
    if let version = environment["TERM_PROGRAM_VERSION"] ?? environment["LC_TERMINAL_VERSION"],
      !name.isEmpty
    {
      name += " " + version
    }
    if name.isEmpty, term == "xterm-kitty" || environment.has("KITTY_WINDOW_ID") { name = "kitty" }
    if name.isEmpty, term == "foot" || term.hasPrefix("foot-") { name = "foot" }
    name = TerminalText.sanitized(name, limit: 64)
    apply(TerminalQuirks(name: name))
  }

  private func colors(_ environment: TerminalEnvironment, term: String) -> ColorDepth {
    if isDumb || environment.has("NO_COLOR") { return .none }
    // Inside GNU screen, the variables that are read below describe the outer terminal. GNU screen 4 misinterprets
    // 24-bit colours as other attributes.
    if multiplexer == .screen { return .indexed }
    // tmux converts 24-bit colours for the outer terminal since version 2.2. If GNU screen runs inside tmux, it
    // inherits `TMUX`.
    if multiplexer == .tmux, !environment.has("STY") { return .full }
    let claim = environment["COLORTERM"] ?? ""
    if claim == "truecolor" || claim == "24bit" || term.hasSuffix("-direct") { return .full }
    let fullTerms = ["xterm-kitty", "foot", "alacritty", "xterm-ghostty", "wezterm", "contour"]
    if fullTerms.contains(where: { term == $0 || term.hasPrefix($0 + "-") }) { return .full }
    if environment.has("VTE_VERSION") || environment.has("KONSOLE_VERSION") { return .full }
    if term.contains("256color") { return .indexed }
    let plain = ["linux", "vt100", "vt220", "ansi", "cons25", "cygwin"]
    if plain.contains(term) { return term.hasPrefix("vt") ? .none : .basic }
    return .indexed
  }

  /// Whether the terminal is known to answer queries. If so, waiting for longer than 150 ms is worthwhile, because a
  /// terminal that was just started on a busy machine may need longer.
  var isSureToAnswer: Bool { multiplexer == .none && TerminalQuirks(name: name).answers }

  /// Applies the properties that are known from the terminal's name.
  mutating func apply(_ quirks: TerminalQuirks) {
    if quirks.hasITerm2Images { hasITerm2Images = true }
    if quirks.drawsSextants { drawsSextants = true }
    if quirks.drawsOctants { drawsOctants = true }
    if quirks.isFullColor, colors == .indexed, multiplexer != .screen { colors = .full }
    if quirks.misreportsKittyEdits { hasKittyEdits = false }
  }
}

/// Properties that are known only from the terminal's name, because no query reports them or the answer is not
/// reliable.
///
/// Each entry was observed in the terminal, or is documented by its authors.
struct TerminalQuirks: Sendable, Hashable {
  /// The terminal supports inline images of iTerm2, for which no query exists.
  var hasITerm2Images = false
  /// The terminal draws sextants itself.
  var drawsSextants = false
  /// The terminal draws octants itself.
  var drawsOctants = false
  /// The terminal supports 24-bit colour, even if `COLORTERM` was lost (ssh, sudo).
  var isFullColor = false
  /// The terminal supports the editing of frames (kitty 0.20 or later), even if the answer to the query is lost.
  var hasKittyEdits = false
  /// The terminal answers every batch of queries, although possibly late.
  var answers = false
  /// Editing frames breaks images in the terminal, whatever the terminal answers to the query.
  var misreportsKittyEdits = false
  /// The terminal keeps sixel colours from one image to the next while mode 1070 is reset. In other terminals that have
  /// this mode, such as xterm, a new colour in a register also changes the pictures that are on the screen.
  var keepsSixelRegisters = false

  private static let table: [(name: String, quirks: TerminalQuirks)] = [
    (
      "kitty",
      TerminalQuirks(drawsSextants: true, isFullColor: true, hasKittyEdits: true, answers: true)
    ),
    (
      "ghostty",
      TerminalQuirks(
        drawsSextants: true, drawsOctants: true, isFullColor: true, answers: true,
        misreportsKittyEdits: true)
    ),
    (
      "foot",
      TerminalQuirks(
        drawsSextants: true, isFullColor: true, answers: true, keepsSixelRegisters: true)
    ),
    (
      "wezterm",
      TerminalQuirks(hasITerm2Images: true, drawsSextants: true, isFullColor: true, answers: true)
    ),
    ("iterm2", TerminalQuirks(hasITerm2Images: true, isFullColor: true)),
    ("iterm.app", TerminalQuirks(hasITerm2Images: true, isFullColor: true)),
    ("contour", TerminalQuirks(drawsSextants: true, isFullColor: true)),
    ("mintty", TerminalQuirks(hasITerm2Images: true, isFullColor: true)),
    ("konsole", TerminalQuirks(isFullColor: true)),
    ("alacritty", TerminalQuirks(isFullColor: true)),
    ("vscode", TerminalQuirks(isFullColor: true)),
    ("tmux", TerminalQuirks(isFullColor: true)),
  ]
}

extension TerminalQuirks {
  /// Creates the quirks of a terminal whose name is `name`, such as `foot(1.13.1)`.
  init(name: String) {
    let lowered = name.lowercased()
    let word = lowered.prefix { $0.isLetter || $0.isNumber || $0 == "." }
    self = Self.table.first { word == $0.name }?.quirks ?? TerminalQuirks()
  }
}

extension TerminalCapabilities {
  /// All capabilities as one line of JSON.
  package var json: String {
    var json = JSONWriter()
    json.object {
      $0.field("schema", "zoetrope.terminal/1")
      $0.field("name", TerminalText.sanitized(name))
      $0.field("protocol", bestProtocol.rawValue)
      $0.field("glyphs", bestGlyphs.rawValue)
      $0.field("utf8", hasUTF8)
      $0.field("colors", colors.rawValue)
      $0.field("kitty_graphics", hasKittyGraphics)
      $0.field("kitty_edits", hasKittyEdits)
      $0.field("iterm2_images", hasITerm2Images)
      $0.field("sixel", hasSixel)
      $0.field("sixel_registers", sixelRegisterCount)
      $0.field("sixel_registers_kept", keepsSixelRegisters || canKeepSixelRegisters)
      $0.field("synchronized_output", hasSynchronizedOutput)
      $0.field("in_band_resize", hasInBandResize)
      $0.field("kitty_keyboard", hasKittyKeyboard)
      $0.field("status_reports", reportsStatus)
      $0.field("sextants", drawsSextants)
      $0.field("octants", drawsOctants)
      $0.field("cell", cellSize.map { [$0.width, $0.height] })
      $0.field("background", background.map(\.hexadecimal))
      $0.field("multiplexer", multiplexer.rawValue)
      $0.field("remote", isRemote)
      $0.field("dumb", isDumb)
      $0.field("answered", didAnswer)
    }
    return String(decoding: json.bytes, as: UTF8.self)
  }
}

extension TerminalColor {
  /// The colour in hexadecimal notation, such as `#336699`.
  fileprivate var hexadecimal: String {
    "#" + String(word & 0xFF_FFFF, radix: 16).paddedLeft(to: 6, with: "0")
  }
}
