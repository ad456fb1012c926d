import Testing
import Zoetrope

@testable import ZoetropeTerminal

@Suite(.timeLimit(.minutes(10)))
struct InputDecoderTests {
  @Test(
    arguments: [
      ("q", KeyEvent(.character("q"))), ("\r", KeyEvent(.enter)), ("\u{7F}", KeyEvent(.backspace)),
      ("\u{3}", KeyEvent(.character("c"), .control)), ("\u{1B}[A", KeyEvent(.up)),
      ("\u{1B}OB", KeyEvent(.down)), ("\u{1B}[1;2C", KeyEvent(.right, .shift)),
      ("\u{1B}[1;5D", KeyEvent(.left, .control)), ("\u{1B}[H", KeyEvent(.home)),
      ("\u{1B}[4~", KeyEvent(.end)), ("\u{1B}[5~", KeyEvent(.pageUp)),
      ("\u{1B}[3;5~", KeyEvent(.delete, .control)), ("\u{1B}OP", KeyEvent(.function(1))),
      ("\u{1B}[24~", KeyEvent(.function(12))), ("\u{1B}[[C", KeyEvent(.function(3))),
      ("\u{1B}x", KeyEvent(.character("x"), .alt)), ("é", KeyEvent(.character("é"))),
      ("\u{1B}[Z", KeyEvent(.tab, .shift)), ("\u{1B}[113u", KeyEvent(.character("q"))),
      ("\u{1B}[99;5u", KeyEvent(.character("c"), .control)), ("\u{1B}[27u", KeyEvent(.escape)),
      ("\u{1B}[103;2u", KeyEvent(.character("G"))), ("\u{C}", KeyEvent(.character("l"), .control)),
      ("🎞", KeyEvent(.character("🎞"))),
    ])
  func `keys are recognised, whole or byte by byte`(_ text: String, _ key: KeyEvent) {
    var whole = InputDecoder()
    #expect(whole.feed(Array(text.utf8)) == [.key(key)])
    #expect(!whole.hasPending)
    var single = InputDecoder()
    #expect(text.utf8.flatMap { single.feed([$0]) } == [.key(key)])
  }

  @Test(
    arguments: [
      ("\u{1B}[?62;4;22c", TerminalReply.Content.attributes([62, 4, 22])), ("\u{1B}[0n", .ready),
      ("\u{1B}P>|foot(1.13.1)\u{1B}\\", .version("foot(1.13.1)")),
      ("\u{1B}[?2026;2$y", .mode(2026, state: 2)),
      ("\u{1B}[6;18;9t", .cellSize(PixelSize(width: 9, height: 18))),
      (
        "\u{1B}]11;rgb:ffff/8080/0000\u{7}",
        .color(11, TerminalColor(red: 255, green: 128, blue: 0))
      ),
      ("\u{1B}_Gi=31,I=4;ENOENT:no\u{1B}\\", .graphics(id: 31, message: "ENOENT:no")),
      ("\u{1B}[?1;0;256S", .graphicsLimits(item: 1, status: 0, values: [256])),
      (
        "\u{1B}[48;24;80;480;800t",
        .resized(ScreenSize(columns: 80, rows: 24, cell: PixelSize(width: 10, height: 20)))
      ), ("\u{1B}P1$r0;48;5;16m\u{1B}\\", .setting("0;48;5;16m")),
      ("\u{1B}P0$r\u{1B}\\", .setting(nil)), ("\u{1B}[12;5R", .cursor(row: 12, column: 5)),
      ("\u{1B}[?5;6R", .cursor(row: 5, column: 6)), ("\u{1B}[>41;379;0c", .other),
      ("\u{1B}[?0u", .keyboard(0)),
    ])
  func `replies are recognised, whole or byte by byte`(
    _ text: String, _ reply: TerminalReply.Content
  ) {
    var whole = InputDecoder()
    #expect(whole.feed(Array(text.utf8)) == [.reply(TerminalReply(reply))])
    var single = InputDecoder()
    #expect(text.utf8.flatMap { single.feed([$0]) } == [.reply(TerminalReply(reply))])
  }

  @Test func `a lone escape is a key once nothing follows`() {
    var decoder = InputDecoder()
    #expect(decoder.feed([0x1B]).isEmpty && decoder.hasPending)
    #expect(decoder.flush() == [.key(KeyEvent(.escape))])
    #expect(decoder.flush().isEmpty)
    #expect(decoder.feed([0x1B, 0x1B]) == [.key(KeyEvent(.escape))])
    #expect(decoder.feed(Array("[B".utf8)) == [.key(KeyEvent(.down))])
  }

  @Test(arguments: ["[", "O", "P", "X", "]", "^", "_"])
  func `a character that introduces sequences is a key with Alt once nothing follows`(
    _ character: Character
  ) {
    var decoder = InputDecoder()
    #expect(decoder.feed(Array("\u{1B}\(character)".utf8)).isEmpty)
    #expect(decoder.flush() == [.key(KeyEvent(.character(character), .alt))])
    #expect(decoder.feed(Array("q".utf8)) == [.key(KeyEvent(.character("q")))])
  }

  @Test func `the mouse's old form gives no keys, whole or byte by byte`() {
    let bytes: [UInt8] = [0x1B, 0x5B, 0x4D, 0x20, 0x71, 0xC3, 0x78]
    var whole = InputDecoder()
    #expect(whole.feed(bytes) == [.reply(.other), .key(KeyEvent(.character("x")))])
    var single = InputDecoder()
    #expect(
      bytes.flatMap { single.feed([$0]) }
        == [.reply(.other), .key(KeyEvent(.character("x")))])
    // Another sequence in its place is not swallowed.
    #expect(single.feed(Array("\u{1B}[M \u{1B}[A".utf8)) == [.key(KeyEvent(.up))])
  }

  @Test func `a half answer is not taken for keys when time passes`() {
    var decoder = InputDecoder()
    #expect(decoder.feed(Array("\u{1B}]11;rgb:00".utf8)).isEmpty)
    #expect(decoder.flush().isEmpty)
    #expect(
      decoder.feed(Array("00/0000/0000\u{7}".utf8))
        == [.reply(TerminalReply(.color(11, TerminalColor(red: 0, green: 0, blue: 0))))])
  }

  @Test func `pasted text gives no keys`() {
    var decoder = InputDecoder()
    #expect(
      decoder.feed(Array("\u{1B}[200~quit\nq\u{1B}[201~x".utf8))
        == [.key(KeyEvent(.character("x")))])
  }

  @Test(arguments: [
    ("", "\u{3}"), ("\u{1B}[", "\u{3}"), ("\u{1B}[201", "\u{3}"), ("", "\u{1B}[99;5u"),
    ("\u{1B}[201", "\u{1B}[99;5u"),
  ])
  func `Ctrl-C ends pasted text whose end was lost`(_ rest: String, _ key: String) {
    var decoder = InputDecoder()
    #expect(decoder.feed(Array("\u{1B}[200~quit\(rest)".utf8)).isEmpty)
    #expect(
      decoder.feed(Array("\(key)x".utf8)) == [
        .key(KeyEvent(.character("c"), .control)), .key(KeyEvent(.character("x"))),
      ])
  }

  @Test func `Ctrl-C ends a long string whose end was lost`() {
    var decoder = InputDecoder()
    #expect(decoder.feed(Array("\u{1B}]\(String(repeating: "x", count: 9000))".utf8)).isEmpty)
    #expect(decoder.feed([3]) == [.key(KeyEvent(.character("c"), .control))])
  }

  @Test func `a string without end is dropped, and what follows its end is read`() {
    var decoder = InputDecoder()
    var bytes = Array("\u{1B}_G".utf8)
    bytes += Array(repeating: UInt8(ascii: "A"), count: 10_000)
    #expect(decoder.feed(bytes).isEmpty)
    #expect(decoder.feed(Array("\u{1B}\\q".utf8)) == [.key(KeyEvent(.character("q")))])
  }

  @Test(arguments: ["\u{1B}_G", "\u{1B}]11;", "\u{1B}P", "\u{1B}["])
  func `an overlong sequence is dropped up to its end, in pieces of any size`(_ start: String) {
    let long = start + String(repeating: "1", count: 9_000)
    let end = start == "\u{1B}[" ? "m" : "\u{1B}\\"
    // CAN and SUB end it too.
    for end in [end, "\u{18}", "\u{1A}"] {
      let text = Array((long + end + "q").utf8)
      for size in [1, 7, 4096, text.count] {
        var decoder = InputDecoder()
        var events: [InputEvent] = []
        for start in stride(from: 0, to: text.count, by: size) {
          events += decoder.feed(Array(text[start..<min(start + size, text.count)]))
          // Nothing is flushed out of the middle of a sequence.
          if start > 2, start + size < text.count - 1 { events += decoder.flush() }
        }
        #expect(events == [.key(KeyEvent(.character("q")))])
        #expect(!decoder.hasPending)
      }
    }
  }

  @Test func `an escape within an overlong control sequence begins the next sequence`() {
    var decoder = InputDecoder()
    let long = "\u{1B}[" + String(repeating: "1", count: 9_000)
    #expect(decoder.feed(Array(long.utf8)).isEmpty)
    #expect(decoder.feed([0x1B]).isEmpty)
    #expect(decoder.feed(Array("[A".utf8)) == [.key(KeyEvent(.up))])
  }

  @Test func `no input crashes the decoder`() {
    var random = SplitMix(state: 1)
    var decoder = InputDecoder()
    var count = 0
    let interesting: [UInt8] = [0x1B, 0x5B, 0x50, 0x5D, 0x5F, 0x3B, 0x3F, 0x74, 0x31, 0x39, 0x24]
    for _ in 0..<3000 {
      let bytes = (0..<8).map { _ in
        Bool.random(using: &random)
          ? UInt8.random(in: 0...255, using: &random)
          : interesting[Int.random(in: 0..<interesting.count, using: &random)]
      }
      count += decoder.feed(bytes).count
      if Int.random(in: 0..<9, using: &random) == 0 { count += decoder.flush().count }
    }
    #expect(count > 0)
  }
}

extension InputDecoderTests {
  @Test(
    arguments: [
      ("\u{1B}[<0;1;2M", MouseEvent(.press(1), column: 0, row: 1)),
      ("\u{1B}[<0;300;99m", MouseEvent(.release(1), column: 299, row: 98)),
      ("\u{1B}[<34;3;4M", MouseEvent(.drag(3), column: 2, row: 3)),
      ("\u{1B}[<64;5;6M", MouseEvent(.wheelUp, column: 4, row: 5)),
      ("\u{1B}[<81;5;6M", MouseEvent(.wheelDown, column: 4, row: 5, modifiers: .control)),
      ("\u{1B}[<12;5;6M", MouseEvent(.press(1), column: 4, row: 5, modifiers: [.shift, .alt])),
    ])
  func `reports of the mouse are recognised, whole or byte by byte`(
    _ text: String, _ event: MouseEvent
  ) {
    var whole = InputDecoder()
    #expect(whole.feed(Array(text.utf8)) == [.mouse(event)])
    var single = InputDecoder()
    #expect(text.utf8.flatMap { single.feed([$0]) } == [.mouse(event)])
  }

  @Test(arguments: ["\u{1B}[<35;5;6M", "\u{1B}[<128;1;1M", "\u{1B}[<3;1;1M", "\u{1B}[<0;1M"])
  func `other reports of the mouse have no meaning`(_ text: String) {
    var decoder = InputDecoder()
    #expect(decoder.feed(Array(text.utf8)) == [.reply(.other)])
  }

  @Test(arguments: ["P", "X", "]", "^", "_"])
  func `the user gets out of a key that looks like the start of a reply`(_ introducer: String) {
    var decoder = InputDecoder()
    let events = decoder.feed(Array("\u{1B}\(introducer)q\u{3}x".utf8))
    #expect(
      events == [
        .key(KeyEvent(.character("c"), .control)), .key(KeyEvent(.character("x"))),
      ])
  }
}
