import Testing
import Zoetrope

@testable import ZoetropeTerminal

/// What the environment says about an outer terminal, or about none.
@Suite(.timeLimit(.minutes(10)))
struct InheritedEnvironmentTests {
  @Test(arguments: [
    ["COLORTERM": "truecolor"], ["COLORTERM": "24bit"], ["TERM_PROGRAM": "WezTerm"],
    ["KITTY_WINDOW_ID": "1"], ["VTE_VERSION": "6003"],
  ])
  func `GNU screen has 256 colours whatever it was started in`(_ inherited: [String: String]) {
    for term in ["screen", "screen.xterm-256color", "screen-256color", "xterm-256color"] {
      let variables = inherited.merging(["TERM": term, "STY": "12.pts-0.host"]) { $1 }
      var found = TerminalCapabilities(environment: TerminalEnvironment(variables))
      #expect(found.multiplexer == .screen && found.colors == .indexed, "\(term)")
      found.apply([.ready, .attributes([1, 2])])
      #expect(found.colors == .indexed, "\(term)")
    }
  }

  @Test(arguments: [
    (["TERM": "tmux-256color"], ColorDepth.full), (["TERM": "screen-256color"], .full),
    (["TERM": "tmux-256color", "NO_COLOR": "1"], .none),
    // A screen inside tmux inherits TMUX.
    (["TERM": "screen", "STY": "12.pts-0.host"], .indexed),
  ])
  func `tmux takes all colours and converts them for its terminal`(
    _ variables: [String: String], _ colors: ColorDepth
  ) {
    let inside = variables.merging(["TMUX": "/tmp/x,1,0"]) { $1 }
    let found = TerminalCapabilities(environment: TerminalEnvironment(inside))
    #expect(found.colors == colors)
  }

  @Test(
    arguments: [
      (["LC_ALL": "C"], true), (["LC_ALL": "POSIX", "LANG": "en_US.UTF-8"], true),
      (["LC_CTYPE": "de_DE.ISO-8859-1"], true), (["LANG": "C"], true),
      (["LC_ALL": "", "LANG": "en_US.UTF-8"], false), (["LC_ALL": "C.utf8"], false),
      (["LC_CTYPE": "UTF-8", "LANG": "C"], false), ([:], false),
    ] as [([String: String], Bool)])
  func `the locale says whether characters may have two bytes`(
    _ variables: [String: String], _ isDenied: Bool
  ) {
    #expect(TerminalEnvironment(variables).deniesUTF8 == isDenied)
  }

  private func probe(_ variables: [String: String], _ answer: String) -> TerminalProbe {
    var pieces = [Array(answer.utf8)]
    return TerminalProbe(
      TerminalCapabilities(environment: TerminalEnvironment(variables)),
      now: { ContinuousClock.now }, write: { _ in },
      read: { _ in pieces.isEmpty ? nil : pieces.removeFirst() })
  }

  @Test(arguments: [
    ("\u{1B}[7;1R\u{1B}[7;2R\u{1B}[?62;c", true), ("\u{1B}[7;1R\u{1B}[7;3R\u{1B}[?62;c", false),
    ("\u{1B}[?62;c", false), ("", false),
  ])
  func `where the locale denies UTF-8 the terminal is queried`(_ answer: String, _ hasUTF8: Bool) {
    let found = probe(["TERM": "xterm-256color", "LC_ALL": "C"], answer).capabilities
    #expect(found.hasUTF8 == hasUTF8)
    #expect(DrawingMode(best: found) == (hasUTF8 ? .blocks(.fine) : .dots(.ascii)))
    #expect(found.json.contains("\"utf8\":\(hasUTF8)"))
  }

  @Test func `nothing is written to a terminal of a UTF-8 locale to find out`() {
    #expect(!TerminalQuery().bytes.contains { $0 >= 0x80 })
    #expect(TerminalQuery(asksForUTF8: true).bytes.contains { $0 >= 0x80 })
  }
}
