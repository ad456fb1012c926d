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
