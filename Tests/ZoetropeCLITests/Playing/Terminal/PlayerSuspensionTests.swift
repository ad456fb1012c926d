import Glibc
import TestRunning
import Testing

/// Ctrl-Z gives the terminal back to the shell, and `fg` takes it again.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct PlayerSuspensionTests {
  @Test(arguments: ["", " "])
  func `a shell stops it and goes on with it`(_ keys: String) throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(SampleGIF().bytes, to: "cat.gif")
    var model = TerminalModel()
    model.answers = .modern
    // Without line editing, which has modes of its own, the shell leaves the terminal alone.
    let terminal = try Pseudoterminal(
      "bash", ["--norc", "--noprofile", "--noediting", "-i"], model: model,
      environment: ["TERM=xterm-256color", "PS1=$ "])
    terminal.type("\(Tool.program) play \(tool.directory)/cat.gif\n")
    try #require(terminal.waitToShow("6x4 GIF"))
    terminal.type(keys)
    #expect(!terminal.isRestored)
    terminal.type("\u{1A}")
    try #require(terminal.waitToShow("Stopped"))
    #expect(terminal.isRestored)
    #expect(terminal.model.state == TerminalState())
    terminal.type("fg\n")
    try #require(terminal.wait { terminal.model.state.isAlternate })
    try #require(terminal.waitToShow("6x4 GIF"))
    #expect(!terminal.isRestored)
    terminal.type("q")
    // Until the shell asks, the player may still read what is typed.
    try #require(terminal.wait { terminal.output.suffix(2).elementsEqual("$ ".utf8) })
    #expect(terminal.model.state == TerminalState())
    terminal.type("echo status-$?\n")
    try #require(terminal.waitToShow("status-0"))
    #expect(terminal.isRestored)
    terminal.type("exit\n")
    #expect(terminal.end() == 0)
  }

  private static let hasTmux = unsafe system("command -v tmux >/dev/null") == 0

  @Test(.enabled(if: hasTmux, "needs tmux"))
  func `tmux sees the same`() throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(SampleGIF().bytes, to: "cat.gif")
    try tool.write(Array(Self.script.utf8), to: "script")
    #expect(try tool.shell("timeout 240 bash script \"$ZOETROPE\" >script.log 2>&1") == 0)
    let log = String(decoding: try tool.read("script.log"), as: UTF8.self)
    #expect(log == "1 0\n0 1\n1 0\n0 1\n1 0\n")
  }

  /// Prints tmux's cursor flag and whether the alternate screen is shown, step by step.
  private static let script = #"""
    t() { tmux -L "zoetrope-$$" -f /dev/null "$@"; }
    trap 't kill-server 2>/dev/null' EXIT
    t new-session -d -x 80 -y 24 -s z "env TERM=tmux-256color bash --norc --noprofile --noediting -i"
    flags() { t display -p -t z '#{cursor_flag} #{alternate_on}'; }
    # Waits for the flags, and for the text if one is given, then prints them.
    until_is() {
      for _ in $(seq 3000); do
        if [ "$(flags)" = "$1" ] && t capture-pane -p -t z | grep -q -e "$2"; then break; fi
        read -rt 0.02 <> <(:)
      done
      flags
    }
    until_is '1 0' '[$#]'
    t send-keys -t z "$1 play cat.gif" Enter; until_is '0 1' '6x4 GIF'
    t send-keys -t z C-z; until_is '1 0' Stopped
    t send-keys -t z fg Enter; until_is '0 1' '6x4 GIF'
    t send-keys -t z q; until_is '1 0' 'fg'
    """#
}
