import Foundation
import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeTerminal

@testable import ZoetropePlayer

/// What each option of `play` changes, as the terminal shows it.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct PlayerOptionTests {
  /// Five frames that are shown long enough to be inspected.
  private static let slow = SampleGIF(
    frames: [(0, 200), (1, 200), (2, 200), (0, 200), (1, 250)]
  ).bytes
  /// Ten frames of 20 ms that never end.
  private static let fast = SampleGIF(frames: (0..<10).map { (UInt8($0 % 3), 2) }).bytes

  /// A GIF whose every pixel is transparent.
  private static let clear: [UInt8] = {
    var bytes = SampleGIF(width: 40, height: 20, frames: [(3, 200), (3, 200)]).bytes
    for index in bytes.indices where bytes[index...].starts(with: [0x21, 0xF9, 4]) {
      bytes[index + 3] |= 1
      bytes[index + 6] = 3
    }
    return bytes
  }()

  /// The colours of the cells above the status line.
  private func colors(_ session: PlayerSession) -> Set<String> {
    Set(session.terminal.model.cells.dropLast(session.terminal.model.columns).flatMap(\.pen))
  }

  @Test(arguments: [
    ("black", ["b48;2;0;0;0"]), ("white", ["b48;2;255;255;255"]), ("336699", ["b48;2;51;102;153"]),
    ("#336699", ["b48;2;51;102;153"]),
  ])
  func `transparent pixels show the requested colour`(_ word: String, _ pens: [String]) throws {
    let session = try PlayerSession(
      ["--protocol", "half", "--colors", "full", "--bg", word], files: ["cat.gif": Self.clear])
    try #require(session.terminal.waitToShow("1/2"))
    #expect(colors(session) == Set(pens))
    #expect(session.quit() == 0)
  }

  @Test func `a checkerboard has two colours, and the terminal's own can be seen through`() throws {
    let session = try PlayerSession(
      ["--protocol", "half", "--colors", "full", "--bg", "checker"], files: ["cat.gif": Self.clear])
    try #require(session.terminal.waitToShow("1/2"))
    #expect(colors(session).count >= 2)
    #expect(session.type("c", expecting: "background: black"))
    #expect(session.terminal.wait { colors(session) == ["b48;2;0;0;0"] })
    #expect(session.type("c", expecting: "background: white"))
    #expect(session.terminal.wait { colors(session) == ["b48;2;255;255;255"] })
    #expect(session.quit() == 0)
  }

  @Test(
    arguments: [
      (["--no-motion"], []), ([], ["NO_MOTION=1"]), ([], ["ZOETROPE_REDUCED_MOTION=1"]),
    ] as [([String], [String])])
  func `reduced motion shows one frame, until motion is requested`(
    _ arguments: [String], _ environment: [String]
  ) throws {
    let session = try PlayerSession(
      arguments, files: ["cat.gif": Self.fast], environment: ["TERM=xterm-256color"] + environment)
    let terminal = session.terminal
    try #require(terminal.waitToShow("1/10"))
    try #require(terminal.waitToShow("space plays again"))
    try #require(terminal.settle())
    #expect(session.status.contains("1/10"))
    terminal.type(" ")
    #expect(terminal.wait { !session.status.contains("1/10") && session.status.contains("▸") })
    #expect(session.quit() == 0)
    #expect(terminal.model.state == TerminalState())
  }

  @Test(arguments: [["NO_MOTION=0"], ["ZOETROPE_REDUCED_MOTION="]])
  func `an empty variable does not ask for less motion`(_ environment: [String]) throws {
    let session = try PlayerSession(
      files: ["cat.gif": Self.fast], environment: ["TERM=xterm-256color"] + environment)
    try #require(session.terminal.waitToShow("cat.gif"))
    #expect(session.terminal.wait { !session.status.contains("1/10") })
    #expect(session.quit() == 0)
  }

  @Test func `--no-status hides the status line`() throws {
    let session = try PlayerSession(["--no-status", "--protocol", "half"])
    try #require(session.terminal.wait { !colors(session).isEmpty })
    #expect(!session.terminal.model.screen.contains("cat.gif"))
    #expect(session.quit() == 0)
  }

  @Test(arguments: [
    ("full", ["48;2;", "38;2;"]), ("256", ["48;5;", "38;5;"]), ("16", ["b4", "f3", "b10", "f9"]),
  ])
  func `colours have the requested depth`(_ word: String, _ kinds: [String]) throws {
    let session = try PlayerSession(
      ["--colors", word, "--protocol", "half", "--no-status"], files: ["cat.gif": Self.slow])
    try #require(session.terminal.wait { !colors(session).isEmpty })
    let pens = colors(session)
    let isKind = pens.allSatisfy { pen in
      word == "16"
        ? !pen.contains(";") && kinds.contains { pen.hasPrefix($0) }
        : kinds.contains { pen.dropFirst().hasPrefix($0) }
    }
    #expect(isKind, "\(pens)")
    #expect(session.quit() == 0)
  }

  @Test func `the fit and the zoom decide how many cells are drawn`() throws {
    func drawn(_ session: PlayerSession) -> Int {
      let model = session.terminal.model
      return model.cells.dropLast(model.columns).count { !$0.pen.isEmpty }
    }
    var counts: [String: Int] = [:]
    for fit in ["fit", "stretch", "original"] {
      let session = try PlayerSession(
        ["--protocol", "half", "--fit", fit], files: ["cat.gif": Self.slow])
      try #require(session.terminal.waitToShow("1/5"))
      counts[fit] = drawn(session)
      if fit == "fit" {
        session.terminal.type("--")
        #expect(session.terminal.wait { drawn(session) < counts["fit", default: 0] })
        session.terminal.type("0")
        #expect(session.terminal.wait { drawn(session) == counts["fit"] })
        #expect(session.type("ffffff", expecting: "fit: auto"))
        for name in ["fit", "shrink", "fill", "original", "integer", "stretch"] {
          #expect(session.type("f", expecting: "fit: \(name)"))
        }
      }
      #expect(session.quit() == 0)
    }
    #expect(counts["stretch"] == 120 * 12)
    #expect(counts["original", default: 0] < 12)
    #expect((12..<120 * 12).contains(counts["fit", default: 0]))
  }

  @Test func `several files each play once and end`() throws {
    let longer = SampleGIF(frames: [(0, 30), (1, 30)]).bytes
    let session = try PlayerSession(files: ["a.gif": SampleGIF().bytes, "b.gif": longer])
    #expect(session.terminal.end() == 0)
    #expect(session.terminal.has("b.gif"))
    #expect(session.terminal.model.state == TerminalState())
    session.tool.cleanUp()
  }

  @Test func `a trace is written when the terminal has been given back`() throws {
    let session = try PlayerSession(["--once", "--late", "stretch", "--trace", "trace.json"])
    #expect(session.terminal.end() == 0)
    let text = String(decoding: try session.tool.read("trace.json"), as: UTF8.self)
    #expect(try PlaybackTrace(json: text).entries.map(\.index) == [0, 1, 2])
    session.tool.cleanUp()
  }

  @Test func `graphics are wrapped for the named multiplexer`() throws {
    let session = try PlayerSession(["--protocol", "kitty", "--passthrough", "tmux"])
    #expect(session.terminal.waitFor("\u{1B}Ptmux;\u{1B}\u{1B}_G"))
    #expect(session.quit() == 0)
    #expect(session.terminal.isRestored)
  }

  /// The page of the documentation.
  private static let page: String = {
    var path = FilePath(#filePath)
    for _ in 0..<5 { path.removeLastComponent() }
    path.append("Sources/Zoetrope/Zoetrope.docc/TerminalPlayer.md")
    return (try? String(contentsOfFile: path.string, encoding: .utf8)) ?? ""
  }()

  @Test func `the documentation names every option, way of drawing and key`() throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    let help = try tool.run("play", "--help").text
    let words = help.split { !$0.isLetter && $0 != "-" }.filter { $0.hasPrefix("--") }
    let left: Set<Substring> = ["--help", "--version"]
    let options = Set(words).subtracting(left)
    #expect(options.count > 20)
    for option in options { #expect(Self.page.contains("`\(option)`"), "\(option)") }
    for mode in DrawingMode.all { #expect(Self.page.contains("`\(mode.name)`"), "\(mode.name)") }
    let table = Self.page.components(separatedBy: "## Options").first ?? ""
    let keys = Set(table.split { " |;\n".contains($0) }.map { $0 == "," ? $0 : $0.trimmed })
    for section in HelpPage.sections where section.title != "Mouse" {
      for key in section.entries.flatMap({ $0.keys.split(separator: " ") }) {
        #expect(keys.contains(key), "\(key)")
      }
    }
  }
}

extension Substring {
  /// Without a comma at the end.
  fileprivate var trimmed: Substring { hasSuffix(",") ? dropLast() : self }
}
