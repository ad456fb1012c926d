import Testing
import Zoetrope
import ZoetropeTerminal
import ZoetropeTestSupport

@testable import ZoetropePlayer
@testable import ZoetropeProcess

@Suite(.timeLimit(.minutes(10))) struct StatusLineTests {
  /// A line with everything in it and a long name.
  private var full: StatusLine {
    var line = StatusLine(format: .gif)
    line.file = (2, 5)
    line.name = "a name of twenty-eight chars"
    line.size = PixelSize(width: 1920, height: 1080)
    (line.index, line.count) = (36, 100)
    (line.time, line.duration) = (.milliseconds(1480), .seconds(4))
    (line.rate, line.play, line.plays) = (1.1, 1, .finite(3))
    line.mode = "kitty"
    line.zoom = 1.5625
    line.section = 2..<7
    return line
  }

  @Test func `a wide screen has room for everything`() {
    let text = full.text(columns: 160)
    #expect(TerminalText.columns(of: text) == 160 && text.hasSuffix("   ? help"))
    #expect(
      text.hasPrefix(
        "▸ [2/5] a name of twenty-eight chars 1920x1080 GIF | 37/100 1.48/4.00 s | 1.10x "
          + "loop 2/3 | zoom 156 % | section 3-7 | kitty   "))
  }

  @Test func `damage is reported`() throws {
    var line = full
    #expect(!line.text(columns: 160).contains("damaged"))
    line.isDamaged = true
    #expect(line.text(columns: 160).contains("section 3-7 | damaged | kitty"))
    (line.mode, line.file, line.section) = ("", nil, nil)
    #expect(line.text(columns: 80).contains(" | damaged"))
    for (name, isDamaged) in [("Bad/gif-cut-in-frame-1.gif", true), ("GIF/interlaced.gif", false)] {
      let image = try AnimatedImage(bytes: FixtureLibrary().file(name))
      let file = PlayedFile(.whole(image), from: InputFile(name), options: PlaybackOptions())
      #expect(file.isDamaged == isDamaged, "\(name)")
    }
  }

  @Test func `the line of delays stays on the screen`() {
    var line = full
    line.timeline = Array(repeating: 100_000, count: 100_000)
    (line.index, line.count) = (36_000, 100_000)
    for columns in 20...40 {
      #expect(TerminalText.columns(of: line.text(columns: columns)) <= columns)
    }
  }

  @Test func `80 columns keep the frame, the section, the name and the hint`() {
    let text = full.text(columns: 80)
    #expect(TerminalText.columns(of: text) == 80)
    for part in ["[2/5]", "a name of", "37/100", "1.48/4.00 s", "section 3-7"] {
      #expect(text.contains(part), "\(part)")
    }
    #expect(text.hasSuffix("  ? help"))
  }

  @Test func `80 columns keep the whole name`() {
    var line = full
    line.name = "bouncing-ball-of-rubber.gif"
    (line.file, line.section, line.zoom) = (nil, nil, 1)
    let wide = line.text(columns: 120)
    #expect(wide.contains("1920x1080 GIF | 37/100 1.48/4.00 s | 1.10x loop 2/3 | kitty"))
    #expect(!line.text(columns: 84).contains("kitty"))
    let text = line.text(columns: 80)
    #expect(text.contains("bouncing-ball-of-rubber.gif | 37/100 1.48/4.00 s | 1.10x"))
    #expect(text.hasSuffix("? help") && !text.contains("1920"))
    // The normal speed is the first part to go.
    line.rate = 1
    #expect(line.text(columns: 120).contains("| 1.00x loop 2/3 | kitty"))
    #expect(!line.text(columns: 84).contains("1.00x"))
    #expect(line.text(columns: 80).contains("bouncing-ball-of-rubber.gif"))
    line.name = String(repeating: "long", count: 30)
    #expect(line.text(columns: 80).hasSuffix("… | 37/100 1.48/4.00 s  ? help"))
  }

  @Test func `requested details are shown on 80 columns`() {
    var line = full
    line.details = "1380 B/frame, 0 dropped"
    let text = line.text(columns: 80)
    #expect(text.contains("1380 B/frame, 0 dropped") && text.contains("section 3-7"))
    #expect(text.hasSuffix("? help"))
  }

  @Test func `no width is exceeded, and the frame stays to the last`() {
    for columns in 0...200 {
      let text = full.text(columns: columns)
      #expect(TerminalText.columns(of: text) <= columns)
      if columns >= 20 { #expect(text.contains("37/100"), "\(columns): \(text)") }
    }
  }

  @Test func `a picture without motion has neither frames nor times`() {
    var line = full
    (line.isStill, line.index, line.count, line.file) = (true, 0, 1, nil)
    line.zoom = 1
    let text = line.text(columns: 80)
    #expect(
      text.hasPrefix("a name of twenty-eight chars 1920x1080 GIF | still picture | kitty"),
      "\(text)")
    #expect(text.hasSuffix("? help"))
    line.isEnded = true
    #expect(line.text(columns: 80).hasSuffix("q quits  ? help"))
    #expect(!line.text(columns: 200).contains("loop"))
  }

  @Test func `frames and sections are counted from 1`() {
    var line = StatusLine(format: .gif)
    (line.index, line.count) = (0, 5)
    line.section = 0..<0
    #expect(line.text(columns: 80).contains("1/5"))
    #expect(line.text(columns: 80).contains("section 1-"))
    line.section = 1..<4
    #expect(line.text(columns: 80).contains("section 2-4"))
  }

  @Test func `the end says how to go on`() {
    var line = full
    line.isEnded = true
    #expect(line.text(columns: 80).hasPrefix("■ "))
    #expect(line.text(columns: 80).hasSuffix("q quits, space plays again"))
  }

  @Test func `the last column is not erased`() {
    func bytes(_ text: String) -> String {
      String(decoding: StatusLine.bytes(text, row: 3, columns: 4), as: UTF8.self)
    }
    #expect(bytes("abcd") == "\u{1B}7\u{1B}[4;1H\u{1B}[mabcd\u{1B}8")
    #expect(bytes("abc") == "\u{1B}7\u{1B}[4;1H\u{1B}[mabc\u{1B}[K\u{1B}8")
  }

  @Test func `the bar shows what was played, and the section`() {
    var bar = ProgressBar(played: 0.5)
    #expect(String(bar.text(columns: 8)) == "━━━━╸───")
    bar.sectionStart = 0.25
    #expect(String(bar.text(columns: 8)) == "━━[━╸───")
    bar.sectionEnd = 1
    #expect(String(bar.text(columns: 8)) == "━━[━╸──]")
    bar.played = 1
    #expect(String(bar.text(columns: 8)) == "━━[━━━━]")
    #expect(ProgressBar().text(columns: 0).isEmpty)
  }

  @Test func `only the changed part of the bar is sent`() {
    let before = ProgressBar(played: 0.25).text(columns: 8)
    let after = ProgressBar(played: 0.5).text(columns: 8)
    #expect(
      String(decoding: ProgressBar.bytes(after, after: before, row: 21), as: UTF8.self)
        == "\u{1B}7\u{1B}[22;3H\u{1B}[m━━╸\u{1B}8")
    #expect(ProgressBar.bytes(after, after: after, row: 21).isEmpty)
    #expect(
      String(decoding: ProgressBar.bytes(after, after: [], row: 21), as: UTF8.self)
        == "\u{1B}7\u{1B}[22;1H\u{1B}[m━━━━╸───\u{1B}8")
  }

  @Test(
    arguments: [
      (24, true, true, 22, 22, 23), (24, true, false, 23, nil, 23), (7, true, true, 6, nil, 6),
      (2, true, true, 2, nil, nil), (24, false, true, 24, nil, nil),
    ] as [(Int, Bool, Bool, Int, Int?, Int?)])
  func `rows are for the picture, the bar and the status`(
    _ rows: Int, _ status: Bool, _ moves: Bool, _ room: Int, _ bar: Int?, _ line: Int?
  ) {
    let plan = ScreenPlan(
      ScreenSize(columns: 80, rows: rows), showsStatus: status, isAnimated: moves)
    #expect(plan.room == CellRect(column: 0, row: 0, columns: 80, rows: room))
    #expect(plan.barRow == bar && plan.statusRow == line)
  }
}
