internal import ZoetropeFrames

/// The environment variables that describe the terminal.
public struct TerminalEnvironment: Sendable, Hashable {
  private let variables: [String: String]

  /// Creates an environment from variables by name. Irrelevant variables are ignored.
  public init(_ variables: [String: String]) { self.variables = variables }

  /// The variables in the environment of this process that describe the terminal.
  public static var current: TerminalEnvironment {
    let names = [
      "TERM", "COLORTERM", "NO_COLOR", "TMUX", "STY", "TERM_PROGRAM", "TERM_PROGRAM_VERSION",
      "LC_TERMINAL", "LC_TERMINAL_VERSION", "KITTY_WINDOW_ID", "WEZTERM_PANE", "KONSOLE_VERSION",
      "VTE_VERSION", "SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT", "GHOSTTY_RESOURCES_DIR",
      "LC_ALL", "LC_CTYPE", "LANG",
    ]
    var found: [String: String] = [:]
    for name in names { found[name] = environmentVariable(name) }
    return TerminalEnvironment(found)
  }

  /// The value of a variable, or nil if it is not set.
  package subscript(name: String) -> String? { variables[name] }

  /// Whether the locale is set and its characters are not UTF-8. Many containers set no locale.
  package var deniesUTF8: Bool { localeHasUTF8 == false }

  /// Whether the characters of the locale are UTF-8, or nil if no locale is set.
  package var localeHasUTF8: Bool? {
    guard let name = ["LC_ALL", "LC_CTYPE", "LANG"].first(where: { has($0) }) else { return nil }
    let locale = (variables[name] ?? "").lowercased()
    return locale.contains("utf-8") || locale.contains("utf8")
  }

  /// Returns whether a variable is set and not empty.
  func has(_ name: String) -> Bool { !(variables[name] ?? "").isEmpty }
}
