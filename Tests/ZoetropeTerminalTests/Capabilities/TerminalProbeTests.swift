import Testing
import Zoetrope

@testable import ZoetropeTerminal

/// The recorded answers of real terminals to the queries, and what follows from them.
@Suite(.timeLimit(.minutes(10)))
struct TerminalProbeTests {
  /// Time that passes only when the probe waits.
  final class Line {
    var time = ContinuousClock.now
    var asked: [UInt8] = []
    var pieces: [[UInt8]]
    let delay: Duration
    init(_ pieces: [String], delay: Duration = .milliseconds(3)) {
      self.pieces = pieces.map { Array($0.utf8) }
      self.delay = delay
    }
    func read(_ limit: Duration) -> [UInt8]? {
      if pieces.isEmpty || delay >= limit {
        time += limit
        return []
      }
      time += delay
      return pieces.removeFirst()
    }
  }

  func probe(
    _ environment: [String: String], _ pieces: [String], delay: Duration = .milliseconds(3)
  ) -> (TerminalProbe, Line, Duration) {
    let line = Line(pieces, delay: delay)
    let start = line.time
    let probe = TerminalProbe(
      TerminalCapabilities(environment: TerminalEnvironment(environment)),
      now: { line.time }, write: { line.asked += $0 }, read: { line.read($0) })
    return (probe, line, start.duration(to: line.time))
  }

  static let kitty =
    "\u{1B}_Gi=4211;OK\u{1B}\\\u{1B}_Gi=4212,r=1;OK\u{1B}\\\u{1B}P>|kitty(0.26.5)\u{1B}\\"
    + "\u{1B}[?2026;2$y\u{1B}[?2048;0$y\u{1B}[?0u\u{1B}[6;18;9t\u{1B}[4;432;720t"
    + "\u{1B}[8;24;80t\u{1B}]11;rgb:0000/0000/0000\u{1B}\\"
    + "\u{1B}P1$r0;48:2:1:2:3m\u{1B}\\\u{1B}[?62;c"

  @Test func `kitty is edited in place`() {
    let (probe, _, _) = probe(["TERM": "xterm-kitty"], [Self.kitty])
    let found = probe.capabilities
    #expect(found.bestProtocol == .kittyEdits)
    #expect(found.hasSynchronizedOutput && found.hasKittyKeyboard && !found.hasInBandResize)
    #expect(found.colors == .full && found.bestGlyphs == .sextants)
    #expect(found.cellSize == PixelSize(width: 9, height: 18))
    #expect(found.background == TerminalColor(red: 0, green: 0, blue: 0))
    #expect(found.name == "kitty(0.26.5)" && found.didAnswer)
  }

  @Test func `answers may come in any pieces`() {
    let whole = probe(["TERM": "xterm-kitty"], [Self.kitty]).0
    let bytes = probe(["TERM": "xterm-kitty"], Self.kitty.map { String($0) }, delay: .zero).0
    #expect(whole.capabilities == bytes.capabilities)
    #expect(bytes.typed.isEmpty)
  }

  @Test func `Ghostty gets two images whatever it says about edits`() {
    let answers = Self.kitty.replacing("kitty(0.26.5)", with: "ghostty 1.1.0")
    let (probe, _, _) = probe(["TERM": "xterm-ghostty"], [answers])
    #expect(probe.capabilities.bestProtocol == .kittyImages)
  }

  @Test func `foot shows sixels in synchronized output`() {
    let (probe, _, _) = probe(
      ["TERM": "foot"],
      [
        "\u{1B}P>|foot(1.13.1)\u{1B}\\\u{1B}[?2026;2$y\u{1B}[?2048;0$y\u{1B}[?1070;1$y"
          + "\u{1B}[?0u\u{1B}[?1;0;1024S\u{1B}[6;16;8t\u{1B}]11;rgb:2424/2424/2424\u{1B}\\"
          + "\u{1B}P1$r0;48:2::1:2:3m\u{1B}\\\u{1B}[?62;4;22c"
      ])
    let found = probe.capabilities
    #expect(found.bestProtocol == .sixel && found.hasSynchronizedOutput)
    #expect(found.sixelRegisterCount == 256 && found.canKeepSixelRegisters)
    #expect(!found.keepsSixelRegisters)
    #expect(found.colors == .full && found.bestGlyphs == .sextants)
    #expect(found.background == TerminalColor(red: 0x24, green: 0x24, blue: 0x24))
  }

  @Test func `xterm draws cells, and sixels as a vt340`() {
    let plain = probe(
      ["TERM": "xterm-256color"],
      [
        "\u{1B}P>|XTerm(379)\u{1B}\\\u{1B}[?2026;0$y\u{1B}[?2048;0$y\u{1B}[?1;3S"
          + "\u{1B}]11;rgb:ffff/ffff/ffff\u{1B}\\\u{1B}P1$r0;48:2::1:2:3m\u{1B}\\"
          + "\u{1B}[?64;1;2;6;9;15;16;17;18;21;22;28c"
      ]
    ).0.capabilities
    #expect(plain.bestProtocol == .cells && plain.bestGlyphs == .fine && plain.colors == .full)
    #expect(!plain.hasSynchronizedOutput && plain.cellSize == nil)
    let vt340 = probe(
      ["TERM": "xterm-256color"],
      ["\u{1B}P>|XTerm(379)\u{1B}\\\u{1B}[?1;0;1024S\u{1B}[?64;1;2;4;6;9;15;16;17;18;21;22;28c"]
    ).0.capabilities
    #expect(vt340.bestProtocol == .sixel)
  }

  @Test func `mlterm says itself that it has 256 colours`() {
    let found = probe(
      ["TERM": "mlterm-256color"],
      [
        "\u{1B}[?2026;0$y\u{1B}[6;17;9t\u{1B}]11;rgb:ff/ff/ff\u{7}\u{1B}P1$r48;5;16m\u{1B}\\"
          + "\u{1B}[?63;1;2;3;4;7c"
      ]
    ).0.capabilities
    #expect(found.bestProtocol == .sixel && found.colors == .indexed)
    #expect(found.background == TerminalColor(red: 255, green: 255, blue: 255))
  }

  @Test(arguments: [
    "\u{1B}[6;1000000;1000000t", "\u{1B}[6;18;257t", "\u{1B}[4;1000000;1000000t\u{1B}[8;1;1t",
  ])
  func `an impossible cell size is ignored`(_ reply: String) {
    let (probe, _, _) = probe(["TERM": "xterm"], [reply + "\u{1B}[?1;2c"])
    #expect(probe.capabilities.didAnswer && probe.capabilities.cellSize == nil)
    var found = TerminalCapabilities()
    found.apply([.cellSize(PixelSize(width: 9, height: 1000))])
    #expect(found.cellSize == nil)
  }

  @Test func `inside tmux cells are drawn and nothing is asked that would leak`() {
    let (probe, line, _) = probe(
      ["TERM": "tmux-256color", "TMUX": "/tmp/x,1,0", "COLORTERM": "truecolor"],
      ["\u{1B}P>|tmux 3.3a\u{1B}\\\u{1B}[8;80;24t\u{1B}[4;768;2560t\u{1B}[?1;2c"])
    let found = probe.capabilities
    #expect(found.bestProtocol == .cells && found.multiplexer == .tmux && found.colors == .full)
    #expect(found.cellSize == nil)
    #expect(!line.asked.contains(UInt8(ascii: "_")))
  }

  @Test func `a terminal that says nothing costs 150 ms, and 1 s over SSH`() {
    let local = probe(["TERM": "vt100"], [])
    #expect(local.2 == .milliseconds(150) && !local.0.capabilities.didAnswer)
    #expect(local.0.capabilities.bestProtocol == .cells)
    let remote = probe(["TERM": "xterm-256color", "SSH_TTY": "/dev/pts/0"], [])
    #expect(remote.2 == .seconds(1))
    // A terminal that was just started is slow, but is known to answer.
    for known in [
      ["TERM": "xterm-kitty"], ["TERM": "foot"], ["TERM": "x", "TERM_PROGRAM": "ghostty"],
    ] {
      #expect(probe(known, []).2 == .seconds(1))
    }
    #expect(probe(["TERM": "tmux-256color", "KITTY_WINDOW_ID": "1"], []).2 == .milliseconds(150))
  }

  @Test func `a dumb terminal is asked nothing`() {
    let (probe, line, time) = probe(["TERM": "dumb"], [])
    #expect(line.asked.isEmpty && time == .zero)
    #expect(DrawingMode(best: probe.capabilities) == .dots(.ascii))
  }

  @Test func `keys typed meanwhile are kept, and a late answer is not a key`() {
    let (probe, _, _) = probe(
      ["TERM": "xterm"], ["q\u{1B}[?2026;2$y\u{1B}[A", "\u{1B}[?62;4c\u{1B}]11;rgb:00"])
    #expect(
      probe.typed == [.key(KeyEvent(.character("q"))), .key(KeyEvent(.up))])
    #expect(probe.capabilities.hasSynchronizedOutput)
    var decoder = probe.decoder
    #expect(
      decoder.feed(Array("00/0000/0000\u{1B}\\x".utf8)).last == .key(KeyEvent(.character("x"))))
  }

  @Test func `the last question is for the attributes`() {
    for isMultiplexed in [false, true] {
      let query = TerminalQuery(isMultiplexed: isMultiplexed).bytes
      #expect(query.suffix(3) == Array("\u{1B}[c".utf8)[...])
    }
  }

  @Test(
    arguments: [
      (["TERM": "xterm-256color", "NO_COLOR": "1", "COLORTERM": "truecolor"], ColorDepth.none),
      (["TERM": "xterm-256color", "NO_COLOR": ""], .indexed), (["TERM": "linux"], .basic),
      (["TERM": "xterm", "COLORTERM": "truecolor"], .full), (["TERM": "xterm-direct"], .full),
      (["TERM": "screen-256color"], .indexed), (["TERM": "dumb"], .none), ([:], .none),
      (["TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"], .full),
    ])
  func `the environment determines the colours`(
    _ environment: [String: String], _ colors: ColorDepth
  ) {
    #expect(TerminalCapabilities(environment: TerminalEnvironment(environment)).colors == colors)
  }

  @Test func `iTerm2 is recognised by its name`() {
    let found = TerminalCapabilities(
      environment: TerminalEnvironment([
        "TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "3.5.14",
      ]))
    #expect(found.bestProtocol == .iterm2 && found.name == "iTerm.app 3.5.14")
  }

  @Test func `what was found is a line of JSON`() {
    var found = TerminalCapabilities()
    found.name = "a\"b\u{1B}"
    found.cellSize = PixelSize(width: 9, height: 18)
    found.background = TerminalColor(red: 1, green: 2, blue: 255)
    let start = #"{"schema":"zoetrope.terminal/1","name":"a\"b"#
    #expect(found.json.hasPrefix(start + "\u{FFFD}\",\"protocol\":\"cells\""))
    #expect(found.json.contains(##""cell":[9,18],"background":"#0102ff""##))
  }
}
