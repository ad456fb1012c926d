import TestRunning
import Testing

/// Terminals that lack something: UTF-8, a known background, a way past the multiplexer.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct OtherTerminalTests {
  private static let slow = SampleGIF(frames: [(0, 200), (1, 200), (2, 200)]).bytes

  private func withPlayer(
    _ arguments: [String] = [], takesUTF8: Bool = true, environment: [String],
    columns: Int = 120, name: String = "cat.gif", _ body: (Pseudoterminal) throws -> Void
  ) throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(Self.slow, to: name)
    var model = TerminalModel(columns: columns)
    model.takesUTF8 = takesUTF8
    let terminal = try Pseudoterminal(
      Tool.program, ["play"] + arguments + [name], model: model, environment: environment,
      directory: tool.directory)
    try body(terminal)
    terminal.type("q")
    #expect(terminal.end() == 0)
    #expect(terminal.isRestored)
    #expect(terminal.model.state == TerminalState())
  }

  @Test func `a terminal without UTF-8 gets ASCII`() throws {
    let environment = ["TERM=xterm-256color", "LC_ALL=C"]
    try withPlayer(takesUTF8: false, environment: environment, name: "ねこ.gif") { terminal in
      try #require(terminal.waitToShow("> ??.gif 6x4 GIF"))
      #expect(terminal.waitToShow("| ascii"))
      terminal.type(" ")
      #expect(terminal.waitToShow("= ??.gif"))
      // Other ways of drawing are not offered.
      terminal.type("v")
      #expect(terminal.waitToShow("drawing: ascii"))
      let drawn = terminal.output.drop { $0 != 0x68 }
      // The character of the UTF-8 query, and nothing after it.
      #expect(drawn.filter { $0 >= 0x80 }.count <= 2)
      #expect(terminal.model.screen.unicodeScalars.allSatisfy { $0.isASCII })
    }
  }

  @Test func `a terminal that takes UTF-8 gets blocks in any locale`() throws {
    try withPlayer(environment: ["TERM=xterm-256color", "LC_ALL=C"]) { terminal in
      #expect(terminal.waitToShow("▸ cat.gif 6x4 GIF"))
      #expect(terminal.waitToShow("| fine"))
    }
  }

  @Test func `a name of wide characters leaves the status line in its row`() throws {
    let name = String(repeating: "ねこ", count: 15) + ".gif"
    try withPlayer(environment: ["TERM=xterm-256color"], columns: 80, name: name) { terminal in
      try #require(terminal.waitToShow("/3 "))
      let line = terminal.model.text(terminal.model.rows - 1)
      // The name stays; less important parts are left out for it.
      #expect(!line.contains("6x4 GIF"))
      let wide = line.unicodeScalars.filter { (0x3040...0x30FF).contains($0.value) }.count
      let narrow = line.unicodeScalars.count { $0 != " " } - wide
      #expect(wide > 20 && wide * 2 + narrow <= 80)
    }
  }

  @Test(arguments: [40, 150, 320])
  func `inside tmux graphics are wrapped by default, and are as large as possible`(
    _ columns: Int
  ) throws {
    let environment = ["TERM=tmux-256color", "TMUX=/tmp/tmux-0/default,1,0"]
    try withPlayer(
      ["--protocol", "kitty", "--fit", "stretch", "--no-status"], environment: environment,
      columns: columns
    ) { terminal in
      let row = terminal.model.rows / 2
      let width = min(columns, 297)
      #expect(
        terminal.wait {
          terminal.model.text(row).unicodeScalars.count { $0.value == 0x10EEEE } == width
        })
      #expect(terminal.has("\u{1B}Ptmux;\u{1B}\u{1B}_G"))
      // No image goes to tmux itself.
      #expect(!terminal.has("\u{1B}\u{1B}\\\u{1B}_G") && !terminal.has("m\u{1B}_G"))
      // Centred, because the marks do not reach from one side to the other.
      let left = terminal.model.text(row).unicodeScalars.prefix { $0 == " " }.count
      #expect(left == (columns - width) / 2)
    }
  }

  @Test(arguments: [("none", false), ("tmux", true), ("auto", true)])
  func `passthrough is as requested`(_ word: String, _ isWrapped: Bool) throws {
    let environment = ["TERM=tmux-256color", "TMUX=/tmp/tmux-0/default,1,0"]
    try withPlayer(
      ["--protocol", "kitty", "--passthrough", word], environment: environment
    ) { terminal in
      #expect(terminal.waitFor("_Ga=T"))
      #expect(terminal.has("\u{1B}Ptmux;\u{1B}\u{1B}_Ga=T") == isWrapped)
      // Nobody has confirmed that the outer terminal can edit images.
      #expect(terminal.waitToShow("| kitty-images"))
    }
  }

  @Test(arguments: ["half", "fine"])
  func `transparency stays in characters that are piped`(_ mode: String) throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    // The graphic control's flags, so that colour 0 is transparent.
    var bytes = SampleGIF(width: 20, height: 20, frames: [(0, 10)]).bytes
    let control = try #require(
      bytes.indices.dropLast(4).first { bytes[$0...].starts(with: [0x21, 0xF9, 4]) })
    bytes[control + 3] |= 1
    try tool.write(bytes, to: "clear.gif")
    let clear = try tool.run("play", "clear.gif", "--protocol", mode, "--colors", "full")
    #expect(clear.status == 0)
    #expect(!clear.text.contains("48;") && !clear.text.contains("38;"))
    let rows = clear.text.split(separator: "\n")
    #expect(rows.count > 3)
    let black = try tool.run(
      "play", "clear.gif", "--protocol", mode, "--colors", "full", "--bg", "black")
    #expect(black.text.contains("48;2;0;0;0"))
  }
}
