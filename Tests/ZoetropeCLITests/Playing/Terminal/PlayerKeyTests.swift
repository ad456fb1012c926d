import TestRunning
import Testing

/// What keys do to the screen and to files. What each decides is in ``PlayerModelKeyTests``.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct PlayerKeyTests {
  /// Five frames that are shown long enough to be inspected.
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

  @Test func `views and the zoom change the cells that are drawn`() throws {
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
    }
  }

  @Test func `frames are saved under the names of extract, and never replace files`() throws {
    try paused { session in
      #expect(session.type("3g", expecting: "3/5"))
      #expect(session.type("s", expecting: "saved cat-0002.png"))
      #expect(session.type("s", expecting: "saved cat-0002-1.png"))
      #expect(session.type("SS", expecting: "saved 5 frames"))
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

  @Test func `a single frame is not saved as several`() throws {
    let session = try PlayerSession(files: ["cat.gif": SampleGIF(frames: [(0, 200)]).bytes])
    try #require(session.terminal.waitToShow("6x4 GIF"))
    #expect(session.type("S", expecting: "saved 1 frame"))
    #expect(!session.status.contains("saved 1 frames"))
    #expect(session.quit() == 0)
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

  @Test func `keys go through the files`() throws {
    let session = try PlayerSession(
      ["--hold"], files: ["a.gif": Self.slow, "b.gif": SampleGIF().bytes, "c.gif": Self.slow])
    try #require(session.terminal.waitToShow("a.gif"))
    #expect(session.type("n", expecting: "b.gif"))
    #expect(session.type("N", expecting: "a.gif"))
    #expect(session.type("N", expecting: "a.gif"))
    session.terminal.type("\t")
    try #require(session.terminal.waitToShow("Enter plays"))
    #expect(session.type("jj\r", expecting: "[3/3]"))
    #expect(session.type("n", expecting: "the last file"))
    #expect(session.quit() == 0)
    #expect(session.terminal.isRestored)
  }
}
