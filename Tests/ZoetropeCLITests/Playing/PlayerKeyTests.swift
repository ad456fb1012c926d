import TestRunning
import Testing

/// What keys do, as the status line and the screen tell it.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct PlayerKeyTests {
  /// Five frames that stay long enough to be looked at.
  private static let slow = SampleGIF(
    frames: [(0, 200), (1, 200), (2, 200), (0, 200), (1, 250)]
  ).bytes

  private func paused(rows: Int = 14, _ body: (PlayerSession) throws -> Void) throws {
    let session = try PlayerSession(files: ["cat.gif": Self.slow], rows: rows)
    try #require(session.terminal.waitToShow("1/5"))
    try #require(session.type(" ", expecting: "‖"))
    // On a busy machine another frame may have come before it was paused.
    // A jump to the frame that is shown would leave nothing to outline.
    if !session.status.contains("1/5") { try #require(session.type("g", expecting: "1/5")) }
    try body(session)
    #expect(session.quit() == 0)
    #expect(session.terminal.model.state == TerminalState())
  }

  @Test func `frames are stepped through and jumped to`() throws {
    try paused { session in
      #expect(session.type(".", expecting: "2/5", "2.00/10.50 s"))
      #expect(session.type("3.", expecting: "5/5"))
      #expect(session.type("l", expecting: "1/5"))
      #expect(session.type(",", expecting: "5/5"))
      #expect(session.type("2h", expecting: "3/5"))
      #expect(session.type("G", expecting: "5/5"))
      #expect(session.type("g", expecting: "1/5"))
      #expect(session.type("3g", expecting: "3/5"))
      #expect(session.type("4G", expecting: "4/5"))
      #expect(session.type("\u{1B}[D", expecting: "3/5"))
      #expect(session.type("\u{1B}[C\u{1B}[C", expecting: "5/5"))
      #expect(session.type("\u{1B}[H", expecting: "1/5"))
      #expect(session.type("\u{1B}[F", expecting: "5/5"))
      #expect(session.type("\u{1B}[B", expecting: "2/5"))
      #expect(session.type("\u{1B}[A", expecting: "4/5"))
    }
  }

  @Test func `speed, direction and plays change`() throws {
    try paused { session in
      #expect(session.type("]", expecting: "1.10x"))
      #expect(session.type("}", expecting: "2.20x"))
      #expect(session.type("{[", expecting: "1.00x"))
      #expect(session.type("]", expecting: "1.10x"))
      #expect(session.type("\u{7F}", expecting: "1.00x"))
      #expect(session.type("L", expecting: "plays: once"))
      #expect(session.type("L", expecting: "plays: for ever"))
      #expect(session.type("L", expecting: "plays: as the file says"))
      #expect(session.type("r ", expecting: "◂"))
      #expect(session.type("r", expecting: "▸"))
      #expect(session.type("b ", expecting: "‖"))
    }
  }

  @Test func `the picture is drawn in other ways`() throws {
    try paused { session in
      #expect(session.type("D", expecting: "6x4+0+0 keep over"))
      session.terminal.type("D")
      #expect(session.terminal.wait { !session.status.contains("keep over") })
      #expect(!session.outlines)
      #expect(session.type("d", expecting: "6x4+0+0 "))
      #expect(session.terminal.wait { session.outlines })
      #expect(session.type("d.,", expecting: "1/5"))
      func drawn() -> Int { session.terminal.model.cells.count { !$0.pen.isEmpty } }
      let before = drawn()
      session.terminal.type("+")
      #expect(session.terminal.wait { drawn() > before })
      session.terminal.type("-")
      #expect(session.terminal.wait { drawn() == before })
      session.terminal.type("++")
      #expect(session.terminal.wait { drawn() > before })
      session.terminal.type("0")
      #expect(session.terminal.wait { drawn() == before })
      #expect(session.type("f", expecting: "fit: "))
      #expect(session.type("c", expecting: "background: checker"))
      #expect(session.type("v", expecting: "drawing: "))
      #expect(session.type("i", expecting: "B/frame"))
      #expect(session.type("i", expecting: "1.00x loop 1"))
    }
  }

  @Test func `delays are shown as bars`() throws {
    try paused { session in
      #expect(session.type("t", expecting: "1/5 2000 ms │▆▆▆█"))
      #expect(session.type("G", expecting: "5/5 2500 ms ▆▆▆▆│"))
      #expect(session.type("t", expecting: "cat.gif 6x4 GIF"))
    }
  }

  @Test func `a section is repeated until it is taken away`() throws {
    try paused { session in
      #expect(session.type("2ga", expecting: "section from frame 2"))
      #expect(session.type("4ga", expecting: "section: frames 2 to 4"))
      #expect(session.type(".", expecting: "2/5", "section 2-4"))
      #expect(session.type("G", expecting: "4/5"))
      #expect(session.type(".", expecting: "2/5"))
      #expect(session.type("g", expecting: "2/5"))
      #expect(session.type("a", expecting: "section off"))
      #expect(session.type("G", expecting: "5/5"))
    }
  }

  @Test func `motion stops at the first frame and goes on`() throws {
    try paused { session in
      #expect(session.type("4gm", expecting: "motion off"))
      #expect(session.type("i", expecting: "‖", "1/5"))
      #expect(session.type("m", expecting: "motion on"))
      #expect(session.type("i", expecting: "▸"))
    }
  }

  @Test func `frames are saved under the names of extract, and never replace files`() throws {
    try paused { session in
      #expect(session.type("3g", expecting: "3/5"))
      #expect(session.type("s", expecting: "saved cat-0002.png"))
      #expect(session.type("s", expecting: "saved cat-0002-1.png"))
      #expect(session.type("S", expecting: "saved 5 frames"))
      let names = try session.tool.list()
      #expect(
        names == [
          "cat-0000.png", "cat-0001.png", "cat-0002-1.png", "cat-0002-2.png", "cat-0002.png",
          "cat-0003.png", "cat-0004.png", "cat.gif",
        ])
      // Names and pictures of `extract`.
      let script = """
        "$ZOETROPE" extract cat.gif -o all -q && for file in all/*; do cmp $file ${file#all/} || exit 1; done
        """
      #expect(try session.tool.shell(script) == 0)
    }
  }

  @Test func `the help is drawn again, and stays`() throws {
    let session = try PlayerSession()
    try #require(session.terminal.waitToShow("6x4 GIF"))
    session.terminal.type("?")
    try #require(session.terminal.waitToShow("closes") && session.terminal.settle())
    let help = session.terminal.model.screen
    session.terminal.smear()
    #expect(session.terminal.model.screen != help)
    session.terminal.type("\u{C}")
    #expect(session.terminal.wait { session.terminal.model.screen == help })
    session.terminal.type("?")
    #expect(session.terminal.waitToShow("6x4 GIF"))
    #expect(session.quit() == 0)
  }

  @Test func `the help page names the keys and goes away`() throws {
    try paused(rows: 24) { session in
      session.terminal.type("?")
      #expect(session.terminal.waitToShow("Ctrl-L"))
      let help = session.terminal.model.screen
      for key in [
        "space", ".", ",", "Right", "Left", "Up", "Down", "Home", "End", "g", "[", "]", "{", "}",
        "Backspace", "r", "b", "L", "a", "m", "d", "D", "q", "Esc", "?", "i", "o", "t", "s", "S",
        "PgUp", "PgDn", "n", "N", ">", "<", "Enter", "v", "f", "c", "+", "-", "0", "Ctrl-L",
        "Ctrl-Z",
      ] { #expect(help.split { $0 == " " || $0 == "\n" }.contains(Substring(key)), "\(key)") }
      #expect(session.type("x", expecting: "1/5"))
      #expect(!session.terminal.model.screen.contains("Ctrl-L"))
    }
  }

  @Test func `Ctrl-L draws what was lost again`() throws {
    try paused { session in
      let terminal = session.terminal
      // Whatever was encoded ahead is written now.
      #expect(session.type(".,", expecting: "1/5"))
      let before = terminal.model.cells
      terminal.smear()
      #expect(terminal.model.cells != before)
      terminal.type("\u{C}")
      #expect(terminal.wait { terminal.model.cells == before })
    }
  }

  @Test func `files are gone through`() throws {
    let session = try PlayerSession(
      ["--hold"], files: ["a.gif": Self.slow, "b.gif": SampleGIF().bytes, "c.gif": Self.slow])
    try #require(session.terminal.waitToShow("a.gif"))
    #expect(session.type("n", expecting: "b.gif"))
    #expect(session.type("\u{1B}[6~", expecting: "c.gif"))
    #expect(session.type("N", expecting: "b.gif"))
    #expect(session.type("<", expecting: "a.gif"))
    #expect(session.type("\u{1B}[5~", expecting: "a.gif"))
    #expect(session.type(">", expecting: "b.gif"))
    #expect(session.type("\r", expecting: "c.gif"))
    #expect(session.type("n", expecting: "the last file"))
    #expect(session.quit() == 0)
    #expect(session.terminal.isRestored)
  }
}
