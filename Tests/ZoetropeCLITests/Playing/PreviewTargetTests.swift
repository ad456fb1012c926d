import Testing
import Zoetrope
import ZoetropeProcess

@testable import ZoetropePlayer
@testable import ZoetropeTerminal

/// What previews decide without asking a terminal.
@Suite(.timeLimit(.minutes(10))) struct PreviewTargetTests {
  private static let size = ScreenSize(
    columns: 100, rows: 30, cell: PixelSize(width: 10, height: 20))

  private func target(
    _ place: String? = nil, mode: String? = nil, number: Int? = nil, isTerminal: Bool = true,
    _ variables: [String: String] = ["TERM": "xterm-256color"]
  ) throws -> PreviewTarget {
    var settings = PreviewSettings()
    settings.place = try place.map { try #require(PicturePlace($0)) }
    settings.mode = try mode.map { try #require(DrawingMode(name: $0)) }
    settings.number = number
    return try PreviewTarget(
      settings, isTerminal: isTerminal, environment: TerminalEnvironment(variables),
      size: Self.size)
  }

  @Test func `places are cells counted from 0, in either way of writing them`() throws {
    let place = try #require(PicturePlace("40x20@60,2"))
    #expect(place.cells == CellRect(column: 60, row: 2, columns: 40, rows: 20))
    #expect(PicturePlace("40x20@60x2") == place)
    #expect(PicturePlace("40x20@0,0") != PicturePlace("40x20"))
    #expect(PicturePlace("40x20")?.hasPosition == false)
    for text in [
      "", "40", "40x", "x20", "0x20", "40x0", "1001x1", "40x20@", "40x20@1", "40x20@-1,0",
      "40x20@+1,0", "40x20@1,2,3", "40x20@1,2@3,4", "40x20@10000,0", "99999999999999999999x1",
    ] {
      #expect(PicturePlace(text) == nil, "\(text)")
    }
  }

  @Test func `a place is cut at the edge of the screen, and refused outside of it`() throws {
    let room = CellRect(column: 90, row: 25, columns: 10, rows: 5)
    #expect(try target("40x20@90,25").room == room)
    #expect(throws: CommandFailure.self) { try target("4x2@100,0") }
    #expect(throws: CommandFailure.self) { try target("4x2@0,30") }
    // No more memory is taken than a screen could need.
    var vast = PreviewSettings()
    (vast.place, vast.cell) = (PicturePlace("1000x1000@0,0"), PixelSize(width: 256, height: 256))
    #expect(throws: CommandFailure.self) { try PreviewTarget(vast, isTerminal: false, size: nil) }
    // Where a pipe leads is not known.
    let piped = try target("40x20@90,25", mode: "half", isTerminal: false)
    #expect(piped.room == CellRect(column: 90, row: 25, columns: 40, rows: 20))
  }

  @Test func `sixels leave the last row of the screen alone, in a pipe only below them`() throws {
    #expect(try target("4x10@0,20", mode: "sixel").room.rows == 9)
    #expect(try target("4x10@0,20", mode: "half").room.rows == 10)
    #expect(try target("4x10@0,20", mode: "sixel", isTerminal: false).room.rows == 10)
  }

  @Test(arguments: [
    (["TERM": "xterm-kitty"], "kitty"), (["TERM": "foot"], "sixel"),
    (["TERM": "xterm-ghostty"], "kitty-images"),
    (["TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"], "iterm2"),
    (["TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"], "sextants"),
    (["TERM": "xterm-256color"], "fine"), (["TERM": "xterm-kitty", "TMUX": "x"], "sextants"),
    (["TERM": "xterm-256color", "NO_COLOR": "1"], "quadrants"),
  ])
  func `the environment decides how to draw`(
    _ variables: [String: String], _ mode: String
  ) throws {
    #expect(try target("4x2@0,0", variables).mode.name == mode)
  }

  @Test func `kitty's images are edited where that is known to work`() throws {
    #expect(
      try target("4x2@0,0", mode: "kitty", ["TERM": "xterm-kitty"]).mode.name == "kitty")
    #expect(try target("4x2@0,0", mode: "kitty").mode.name == "kitty-images")
  }

  @Test func `ids follow from the number, and are random without one`() throws {
    #expect(try target("4x2@0,0", number: 7).imageID == 14)
    let ids = try Set((0..<20).map { _ in try target("4x2@0,0").imageID })
    #expect(ids.count == 20)
    #expect(ids.allSatisfy { $0 % 2 == 0 && $0 < 1 << 24 })
  }

  @Test func `a picture is removed by its ids, or by erasing its cells`() throws {
    let area = CellRect(column: 4, row: 2, columns: 3, rows: 2)
    let erasure = "\u{1B}7\u{1B}[m\u{1B}[3;5H\u{1B}[3X\u{1B}[4;5H\u{1B}[3X\u{1B}8"
    func removal(_ mode: String, _ variables: [String: String]) throws -> String {
      let target = try target("9x9@4,2", mode: mode, number: 7, variables)
      return String(decoding: target.removal(from: area), as: UTF8.self)
    }
    let plain = ["TERM": "xterm-256color"]
    #expect(try removal("half", plain) == erasure)
    #expect(try removal("sixel", plain) == erasure)
    let deletions = "\u{1B}_Ga=d,d=I,q=2,i=14\u{1B}\\\u{1B}_Ga=d,d=I,q=2,i=15\u{1B}\\"
    #expect(try removal("kitty", plain) == deletions)
    let inTmux = try removal("kitty", ["TERM": "tmux-256color", "TMUX": "x"])
    #expect(inTmux.hasPrefix("\u{1B}Ptmux;\u{1B}\u{1B}_Ga=d") && inTmux.hasSuffix(erasure))
  }

  @Test func `from a saved cursor, moves go back to it and never to a place of the screen`() {
    var pen = PenState(column: 0, row: 0, foreground: .default, background: .default)
    pen.isAnchored = true
    func move(_ column: Int, _ row: Int) -> String {
      var bytes: [UInt8] = []
      pen.move(toColumn: column, row: row, into: &bytes)
      return String(decoding: bytes, as: UTF8.self)
    }
    #expect(move(0, 0).isEmpty)
    #expect(move(3, 2) == "\r\n\n\u{1B}[3C")
    #expect(move(1, 2) == "\r\u{1B}[C")
    pen.foreground = .basic(1)
    #expect(move(2, 1) == "\u{1B}8\r\n\u{1B}[2C")
    #expect(pen.foreground == .default)
    pen.forgetPosition()
    #expect(move(0, 12) == "\u{1B}8\r" + String(repeating: "\n", count: 12))
  }
}
