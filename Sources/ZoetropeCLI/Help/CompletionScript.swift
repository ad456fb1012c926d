import Zoetrope

/// Adds completions that the argument parser does not know: names of animation files in place of a command, and the
/// values of `--cache` that are not directories.
enum CompletionScript {
  /// Returns `script`, the parser's completion script for `shell`, with the additional completions.
  static func completed(_ script: String, for shell: String) -> String {
    var script = script
    let extensions = FormatTable.rows.flatMap(\.fileExtensions)
    func insert(_ text: String, behind mark: String) {
      guard let place = script.firstRange(of: mark) else { return }
      script.replaceSubrange(place, with: mark + text)
    }
    switch shell {
    case "bash":
      let words = extensions.joined(separator: "|")
      let commands = script.split(separator: "\n").first { $0.contains("compgen -W 'info ") } ?? ""
      insert(
        "\n        __zoetrope_add_completions -o plusdirs -fX '!*.@(\(words))'",
        behind: String(commands))
      script.replace(
        "'--cache')\n",
        with: "'--cache')\n        __zoetrope_add_completions -W 'none'$'\\n''default'\n")
    case "zsh":
      insert(
        "\n        _files -g '\(extensions.map { "*.\($0)" }.joined(separator: " "))' && ret=0",
        behind: "_describe -V subcommand subcommands && ret=0")
      script.replace(":dir:_files -/'", with: ":dir:{__zoetrope_complete none default; _files -/}'")
    case "fish":
      let first = #"'__zoetrope_should_offer_completions_for_positional "zoetrope" -eq 1' -fa "#
      let files =
        script.split(separator: "\n")
        .first { $0.contains(#""zoetrope play" -ge 1' -fa "#) } ?? ""
      script.replace(
        "-rfa '(__zoetrope_complete_directories)'",
        with: "-rfa 'none default (__zoetrope_complete_directories)'")
      if let values = files.firstRange(of: "-fa ") {
        script += "\ncomplete -c 'zoetrope' -n " + first + files[values.upperBound...] + "\n"
      }
    default: break
    }
    return script
  }

  /// Returns the shell whose completion script `arguments` request, or nil if they do not request one.
  static func shell(in arguments: [String]) -> String? {
    let option = "--generate-completion-script"
    guard let first = arguments.first, first.hasPrefix(option) else { return nil }
    if first == option { return arguments.dropFirst().first }
    return first.hasPrefix(option + "=") ? String(first.dropFirst(option.count + 1)) : nil
  }
}
