internal import Glibc

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
    for name in names {
      // The string belongs to the environment, which nothing here changes; it is copied at once.
      if let value = unsafe getenv(name) { found[name] = unsafe String(cString: value) }
    }
    return TerminalEnvironment(found)
  }

  /// The value of a variable; nil when it is not set.
  public subscript(name: String) -> String? { variables[name] }

  /// Whether the locale is one without UTF-8. With none set at all, as in many containers, nothing is
  /// said.
  public var deniesUTF8: Bool {
    guard let name = ["LC_ALL", "LC_CTYPE", "LANG"].first(where: { has($0) }) else { return false }
    let locale = (variables[name] ?? "").lowercased()
    return !locale.contains("utf-8") && !locale.contains("utf8")
  }

  /// Whether a variable is set to something.
  func has(_ name: String) -> Bool { !(variables[name] ?? "").isEmpty }
}
