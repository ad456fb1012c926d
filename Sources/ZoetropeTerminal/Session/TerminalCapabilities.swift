internal import Glibc
public import Zoetrope

/// What is known of a terminal.
///
/// Made from the environment, and refined by what the terminal answers to queries.
public struct TerminalCapabilities: Sendable, Hashable {
  /// The terminal's own name and version, from XTVERSION or the environment; empty when not known.
  public var name = ""
  /// Whether it takes UTF-8, as the locale says or, where that says no, as it showed itself.
  public var hasUTF8 = true
  /// How many colours it shows.
  public var colors = ColorDepth.indexed
  /// Whether it knows kitty's graphics protocol.
  public var hasKittyGraphics = false
  /// Whether it also knows `a=f`, edits of a frame.
  public var hasKittyEdits = false
  /// Whether it knows iTerm2's inline images.
  public var hasITerm2Images = false
  /// Whether it knows sixels.
  public var hasSixel = false
  /// How many colours a sixel image may have.
  public var sixelRegisterCount = 256
  /// Whether sixel colours stay defined from one image to the next (mode 1070 is off).
  public var keepsSixelRegisters = false
  /// Whether they would with mode 1070 switched off, as ``TerminalMode/keepsSixelRegisters`` does.
  public var canKeepSixelRegisters = false
  /// Whether it shows nothing between the marks of synchronized output (mode 2026).
  public var hasSynchronizedOutput = false
  /// Whether it reports its size in the input (mode 2048).
  public var hasInBandResize = false
  /// Whether it draws sextants itself, without a font.
  public var drawsSextants = false
  /// Whether it draws octants itself, without a font.
  public var drawsOctants = false
  /// Whether it knows kitty's keyboard protocol.
  public var hasKittyKeyboard = false
  /// Whether it answers `CSI 5 n`, and so tells how far it has read (``LinkFence``).
  public var reportsStatus = false
  /// Pixels of a cell; nil when the terminal does not say.
  public var cellSize: PixelSize?
  /// The colour behind text; nil when the terminal does not say.
  public var background: TerminalColor?
  /// The multiplexer in between.
  public var multiplexer = Passthrough.none
  /// Whether nothing but plain text should be sent (`TERM=dumb`).
  public var isDumb = false
  /// Whether the terminal is at the other end of an SSH connection.
  public var isRemote = false
  /// Whether the terminal answered the last query of the batch, so that all of the above is sure.
  public var didAnswer = false

  /// Nothing known: 256 colours and cells.
  public init() {}

  /// The best way to show pictures: the first that is known of kitty's edits, kitty's images,
  /// iTerm2's, sixels, and cells.
  ///
  /// Inside a multiplexer always cells: what the terminal knows is not what the multiplexer lets
  /// through.
  public var bestProtocol: GraphicsProtocol {
    if multiplexer != .none || isDumb { return .cells }
    if hasKittyGraphics { return hasKittyEdits ? .kittyEdits : .kittyImages }
    if hasITerm2Images { return .iterm2 }
    return hasSixel ? .sixel : .cells
  }

  /// The best characters to draw pictures with; octants are left to those who ask for them.
  public var bestGlyphs: CellGlyphs { drawsSextants ? .sextants : .fine }

  /// What transparent pixels should be laid over: the terminal's own background, in its colour where
  /// that is known.
  public var backdrop: Backdrop {
    guard let background else { return .terminal }
    return .color(red: background.red, green: background.green, blue: background.blue)
  }
}

/// The environment variables that say something of the terminal.
public struct TerminalEnvironment: Sendable, Hashable {
  private let variables: [String: String]

  /// Variables by name; those that do not matter are ignored.
  public init(_ variables: [String: String]) { self.variables = variables }

  /// The variables of this process.
  public static var current: TerminalEnvironment {
    let names = [
      "TERM", "COLORTERM", "NO_COLOR", "TMUX", "STY", "TERM_PROGRAM", "TERM_PROGRAM_VERSION",
      "LC_TERMINAL", "LC_TERMINAL_VERSION", "KITTY_WINDOW_ID", "WEZTERM_PANE", "KONSOLE_VERSION",
      "VTE_VERSION", "SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT", "GHOSTTY_RESOURCES_DIR",
      "LC_ALL", "LC_CTYPE", "LANG",
    ]
    var found: [String: String] = [:]
    for name in names { found[name] = variable(name) }
    return TerminalEnvironment(found)
  }

  /// The value of a variable of this process; nil when it is not set.
  package static func variable(_ name: String) -> String? {
    // The string belongs to the environment, which nothing here changes; it is copied at once.
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
  }

  /// The value of a variable; nil when it is not set.
  public subscript(name: String) -> String? { variables[name] }

  /// Whether the locale is one without UTF-8; false when none is set, as in many containers.
  public var deniesUTF8: Bool { localeHasUTF8 == false }

  /// Whether the locale's characters are UTF-8; nil when no locale is set.
  package var localeHasUTF8: Bool? {
    guard let name = ["LC_ALL", "LC_CTYPE", "LANG"].first(where: { has($0) }) else { return nil }
    let locale = (variables[name] ?? "").lowercased()
    return locale.contains("utf-8") || locale.contains("utf8")
  }

  /// Whether a variable is set to something.
  func has(_ name: String) -> Bool { !(variables[name] ?? "").isEmpty }
}

extension TerminalCapabilities {
  /// What the environment says, before the terminal was asked anything.
  ///
  /// Graphics are never concluded from it, with one exception: iTerm2's images have no query, so
  /// the terminals that have them are known by name.
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
    // What follows is inherited from the terminal around it and not true of GNU screen, whose
    // version 4 takes 24-bit colours for other attributes.
    if multiplexer == .screen { return .indexed }
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

  /// Whether it is worth waiting for the terminal's answers: it is known to give them, and when it
  /// has only just been started on a busy machine they take longer than 150 ms.
  var isSureToAnswer: Bool { multiplexer == .none && TerminalQuirks(name: name).answers }

  /// Takes over what is known of a terminal by its name.
  mutating func apply(_ quirks: TerminalQuirks) {
    if quirks.hasITerm2Images { hasITerm2Images = true }
    if quirks.drawsSextants { drawsSextants = true }
    if quirks.drawsOctants { drawsOctants = true }
    if quirks.isFullColor, colors == .indexed, multiplexer != .screen { colors = .full }
    if quirks.misreportsKittyEdits { hasKittyEdits = false }
  }
}

/// What is known of terminals by their names, where no query tells.
///
/// Each entry was seen in the terminal or its documentation; a name not listed gets nothing.
struct TerminalQuirks: Sendable, Hashable {
  /// iTerm2's images have no query of their own.
  var hasITerm2Images = false
  /// Sextants are drawn by the terminal itself.
  var drawsSextants = false
  /// Octants are drawn by the terminal itself.
  var drawsOctants = false
  /// 24-bit colour, even where `COLORTERM` was lost on the way (ssh, sudo).
  var isFullColor = false
  /// Frames can be edited (kitty since 0.20), should the answer to the question be lost.
  var hasKittyEdits = false
  /// It answers every batch of questions, however late: worth waiting for.
  var answers = false
  /// Images break when frames are edited, whatever the terminal answers.
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
  ]

  /// What is known of a terminal that calls itself `name`, such as `foot(1.13.1)`.
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
  public var json: String {
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
