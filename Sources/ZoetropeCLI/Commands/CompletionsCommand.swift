import ArgumentParser
import Zoetrope
import ZoetropeProcess

/// The command `zoetrope completions`.
struct CompletionsCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "completions",
    abstract: "Print the completion script for a shell.",
    usage: "zoetrope completions <shell>",
    discussion: """
      Save the script where the shell looks for it. For bash, save it as zoetrope in \
      ~/.local/share/bash-completion/completions; for zsh, as _zoetrope in a directory of fpath; \
      for fish, as zoetrope.fish in ~/.config/fish/completions.

      EXAMPLES:
        zoetrope completions bash
        zoetrope completions fish
      """)

  @Argument(help: "The shell.")
  var shell: CompletedShell

  func execute() throws(CommandFailure) -> ExitStatus {
    let name = shell.rawValue
    guard let kind = CompletionShell(rawValue: name) else { return .usage }
    let script = CompletionScript.completed(ZoetropeCommand.completionScript(for: kind), for: name)
    try OutputStream.print(Array((script + "\n").utf8))
    return .success
  }
}

/// The shells for which there are completions.
enum CompletedShell: String, ExpressibleByArgument, CaseIterable {
  case bash, zsh, fish

  static let allValueDescriptions = [
    "bash": "bash 4 or later, with bash-completion", "zsh": "zsh", "fish": "fish",
  ]
}
