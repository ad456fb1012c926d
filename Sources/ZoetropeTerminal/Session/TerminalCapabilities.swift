public import ZoetropeFrames

/// What is known about a terminal: first from the environment, then from its answers to queries.
public struct TerminalCapabilities: Sendable, Hashable {
  /// The terminal's name and version, from XTVERSION or the environment; empty when unknown.
  public var name = ""
  /// Whether it accepts UTF-8, according to the locale or, where that denies it, to a test.
  package var hasUTF8 = true
  /// How many colours it can show.
  package var colors = ColorDepth.indexed
  /// Whether it supports kitty's graphics protocol.
  package var hasKittyGraphics = false
  /// Whether it also supports editing frames (`a=f`).
  package var hasKittyEdits = false
  /// Whether it supports iTerm2's inline images.
  package var hasITerm2Images = false
  /// Whether it supports sixels.
  package var hasSixel = false
  /// How many colours a sixel image may have.
  package var sixelRegisterCount = 256
  /// Whether sixel colours stay defined from one image to the next (mode 1070 is reset).
  package var keepsSixelRegisters = false
  /// Whether the terminal would keep sixel colours with mode 1070 reset, as ``TerminalMode/keepsSixelRegisters``
  /// requests.
  package var canKeepSixelRegisters = false
  /// Whether it supports synchronized output (mode 2026).
  package var hasSynchronizedOutput = false
  /// Whether it can report size changes in the input (mode 2048).
  package var hasInBandResize = false
  /// Whether it draws sextants itself, whatever the font.
  package var drawsSextants = false
  /// Whether it draws octants itself, whatever the font.
  package var drawsOctants = false
  /// Whether it supports kitty's keyboard protocol.
  package var hasKittyKeyboard = false
  /// Whether it answers `CSI 5 n`, which ``LinkFence`` relies on.
  package var reportsStatus = false
  /// The size of a cell in pixels; nil when the terminal does not report it.
  public var cellSize: PixelSize?
  /// The background colour; nil when the terminal does not report it.
  package var background: TerminalColor?
  /// The multiplexer in which the program runs.
  package var multiplexer = Passthrough.none
  /// Whether only plain text should be sent (`TERM=dumb`).
  package var isDumb = false
  /// Whether the terminal is at the other end of an SSH connection.
  package var isRemote = false
  /// Whether the terminal answered the last query of the batch, so that all of the above is
  /// certain.
  package var didAnswer = false

  /// Creates the capabilities of an unknown terminal: 256 colours, and characters only.
  package init() {}

  /// The best supported way to show pictures: kitty with edits, kitty without, iTerm2, sixels, or
  /// cells.
  ///
  /// Inside a multiplexer it is always cells, because graphics may not get through.
  package var bestProtocol: GraphicsProtocol {
    if multiplexer != .none || isDumb { return .cells }
    if hasKittyGraphics { return hasKittyEdits ? .kittyEdits : .kittyImages }
    if hasITerm2Images { return .iterm2 }
    return hasSixel ? .sixel : .cells
  }

  /// The best block characters. Octants are never chosen by default.
  package var bestGlyphs: CellGlyphs { drawsSextants ? .sextants : .fine }

  /// The terminal's background as a backdrop, with its colour if that is known.
  package var backdrop: Backdrop {
    guard let background else { return .terminal }
    return .color(red: background.red, green: background.green, blue: background.blue)
  }
}

extension TerminalCapabilities {
  /// Creates capabilities from the environment alone.
  ///
  /// Graphics are not inferred from the environment, with one exception: no query exists for iTerm2's images, so
  /// terminals that support them are recognised by name.
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
    // Inside GNU screen, the variables read below describe the outer terminal. Version 4 misreads 24-bit colours as
    // other attributes.
    if multiplexer == .screen { return .indexed }
    // tmux converts 24-bit colours for the outer terminal from 2.2 on. A screen inside inherits `TMUX`.
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

  /// Whether the terminal is known to answer queries, so that waiting longer than 150 ms is
  /// worthwhile: one that was just started on a busy machine may need it.
  var isSureToAnswer: Bool { multiplexer == .none && TerminalQuirks(name: name).answers }

  /// Applies what is known about the terminal by its name.
  mutating func apply(_ quirks: TerminalQuirks) {
    if quirks.hasITerm2Images { hasITerm2Images = true }
    if quirks.drawsSextants { drawsSextants = true }
    if quirks.drawsOctants { drawsOctants = true }
    if quirks.isFullColor, colors == .indexed, multiplexer != .screen { colors = .full }
    if quirks.misreportsKittyEdits { hasKittyEdits = false }
  }
}

/// Properties that are known only from the terminal's name, because no query reports them.
///
/// Each entry was observed in the terminal, or is documented by it.
struct TerminalQuirks: Sendable, Hashable {
  /// No query exists for iTerm2's images.
  var hasITerm2Images = false
  /// The terminal draws sextants itself.
  var drawsSextants = false
  /// The terminal draws octants itself.
  var drawsOctants = false
  /// 24-bit colour, even where `COLORTERM` was lost (ssh, sudo).
  var isFullColor = false
  /// Frames can be edited (kitty 0.20 or later), even if the answer to the query is lost.
  var hasKittyEdits = false
  /// It answers every batch of queries, however late.
  var answers = false
  /// Editing frames breaks images, whatever the terminal answers.
  var misreportsKittyEdits = false

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
    ("foot", TerminalQuirks(drawsSextants: true, isFullColor: true, answers: true)),
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

  /// The quirks of a terminal that calls itself `name`, such as `foot(1.13.1)`.
  init(name: String) {
    let lowered = name.lowercased()
    let word = lowered.prefix { $0.isLetter || $0.isNumber || $0 == "." }
    self = Self.table.first { word == $0.name }?.quirks ?? TerminalQuirks()
  }

  private init(
    hasITerm2Images: Bool = false, drawsSextants: Bool = false, drawsOctants: Bool = false,
    isFullColor: Bool = false, hasKittyEdits: Bool = false, answers: Bool = false,
    misreportsKittyEdits: Bool = false
  ) {
    self.hasITerm2Images = hasITerm2Images
    self.drawsSextants = drawsSextants
    self.drawsOctants = drawsOctants
    self.isFullColor = isFullColor
    self.hasKittyEdits = hasKittyEdits
    self.answers = answers
    self.misreportsKittyEdits = misreportsKittyEdits
  }
}

extension TerminalCapabilities {
  /// Everything that is known, as one line of JSON.
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
  /// Such as `#336699`.
  fileprivate var hexadecimal: String {
    "#" + String(word & 0xFF_FFFF, radix: 16).paddedLeft(to: 6, with: "0")
  }
}
