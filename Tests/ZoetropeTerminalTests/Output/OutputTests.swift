import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeTerminal

@Suite(.timeLimit(.minutes(10)), .computes)
struct OutputTests {
  func encoder(_ options: EncodingOptions = .exact) -> CellEncoder {
    CellEncoder(
      area: CellRect(column: 0, row: 0, columns: 4, rows: 2),
      screen: ScreenSize(columns: 6, rows: 3), glyphs: .fine, options: options)
  }

  @Test func `a frame that changes is inside the marks, one that does not is nothing`() {
    var writer = FrameWriter(encoder: encoder(), isSynchronized: true)
    let bitmap = Sketch(width: 8, height: 8).bitmap
    var output: [UInt8] = []
    writer.frame(bitmap, into: &output)
    let text = String(decoding: output, as: UTF8.self)
    #expect(text.hasPrefix("\u{1B}[?2026h\u{1B}[1H") && text.hasSuffix("\u{1B}[?2026l"))
    writer.frame(bitmap, into: &output)
    #expect(output.isEmpty)
    writer.invalidate()
    writer.frame(bitmap, into: &output)
    #expect(String(decoding: output, as: UTF8.self) == text)
  }

  @Test(arguments: [PixelFormat.bgra8, .rgba16, .rgba8])
  func `pictures of any format are drawn in their colours`(_ format: PixelFormat) throws {
    let bitmap = Sketch(width: 8, height: 8).bitmap
    var writers = [FrameWriter](
      repeating: FrameWriter(encoder: encoder(), isSynchronized: false), count: 2)
    var outputs: [[UInt8]] = [[], []]
    writers[0].frame(bitmap, into: &outputs[0])
    try writers[1].draw(bitmap.converted(to: format), into: &outputs[1])
    #expect(!outputs[0].isEmpty && outputs[0] == outputs[1])
  }

  @Test(arguments: [0, 2])
  func `kept deltas of a loop show what encoding would show`(_ threshold: Int) {
    var random = SplitMix(state: 4)
    var sketch = Sketch(width: 16, height: 16)
    let frames = (0..<12).map { _ in
      sketch.change(&random, colors: 300)
      return sketch.bitmap
    }
    let options = EncodingOptions(holdThreshold: threshold)
    var plain = FrameWriter(encoder: encoder(options), isSynchronized: false)
    var cached = plain
    var cache = DeltaCache()
    var terminals = [MiniTerminal(columns: 6, rows: 3), MiniTerminal(columns: 6, rows: 3)]
    var foundCount = 0
    for index in 0..<60 {
      var bytes: [UInt8] = []
      plain.frame(frames[index % 12], into: &bytes)
      terminals[0].apply(bytes)
      let picture = frames[index % 12]
      if let kept = cache.bytes(forFrame: index % 12, showing: picture, writer: &cached) {
        terminals[1].apply(kept)
        foundCount += 1
      } else {
        cached.frame(frames[index % 12], into: &bytes)
        terminals[1].apply(bytes)
        cache.insert(bytes, forFrame: index % 12, writer: cached)
      }
      #expect(terminals[0].looksLike(terminals[1]))
    }
    #expect(foundCount >= 24 && cache.byteCount <= cache.byteLimit)
    cache.leave()
    #expect(cache.bytes(forFrame: 5, showing: frames[5], writer: &cached) == nil)
  }

  @Test func `a full cache keeps no more`() {
    var cache = DeltaCache(byteLimit: 100)
    let writer = FrameWriter(encoder: encoder(), isSynchronized: false)
    cache.insert(Array(repeating: 0, count: 90), forFrame: 0, writer: writer)
    #expect(cache.byteCount == 0)
  }

  @Test func `the shortest move is taken`() {
    func move(_ from: (Int?, Int?), _ column: Int, _ row: Int) -> String {
      var pen = PenState(column: from.0, row: from.1)
      var bytes: [UInt8] = []
      pen.move(toColumn: column, row: row, into: &bytes)
      #expect(pen.column == column && pen.row == row)
      return String(decoding: bytes, as: UTF8.self)
    }
    #expect(move((nil, nil), 0, 0) == "\u{1B}[1H")
    #expect(move((nil, nil), 4, 2) == "\u{1B}[3;5H")
    #expect(move((3, 2), 3, 2) == "")
    #expect(move((3, 2), 4, 2) == "\u{1B}[C")
    #expect(move((3, 2), 13, 2) == "\u{1B}[10C")
    #expect(move((13, 2), 0, 3) == "\r\n")
    #expect(move((nil, 2), 0, 2) == "\r")
    #expect(move((13, 2), 0, 4) == "\r\n\n")
    #expect(move((13, 2), 20, 9) == "\u{1B}[10;21H")
    #expect(move((13, 2), 2, 1) == "\u{1B}[2;3H")
  }

  @Test func `tmux gets every escape twice`() {
    var output: [UInt8] = []
    Passthrough.tmux.append(Array("\u{1B}_Gi=1\u{1B}\\".utf8), to: &output)
    #expect(
      String(decoding: output, as: UTF8.self)
        == "\u{1B}Ptmux;\u{1B}\u{1B}_Gi=1\u{1B}\u{1B}\\\u{1B}\\")
  }

  @Test(arguments: [3, 499, 500, 501, 502, 999, 1000, 1001, 4100])
  func `screen gets pieces that give the sequence back`(_ count: Int) {
    var sequence = Array("\u{1B}_G".utf8)
    sequence += Array(repeating: 65, count: count)
    sequence += Array("\u{1B}\\".utf8)
    var output: [UInt8] = []
    Passthrough.screen.append(sequence, to: &output)
    // What screen does: a string ends at ESC \, and its body is passed on.
    var passed: [UInt8] = []
    var index = 0
    while index < output.count {
      #expect(output[index] == 0x1B && output[index + 1] == 0x50)
      var end = index + 2
      while !(output[end] == 0x1B && end + 1 < output.count && output[end + 1] == 0x5C) { end += 1 }
      // An ESC that is the body's last byte stands right before the terminator's own.
      passed += output[index + 2..<end]
      #expect(end - index - 2 <= 700)
      index = end + 2
    }
    #expect(passed == sequence)
  }

  @Test(
    arguments: [
      ("cat.gif", "cat.gif"), ("a\u{1B}[2Jb", "a\u{FFFD}[2Jb"), ("a\nb\tc", "a\u{FFFD}b\u{FFFD}c"),
      ("\u{9B}31m", "\u{FFFD}31m"), ("gpj\u{202E}fig.exe", "gpjfig.exe"), ("日本 é", "日本 é"),
      ("a\u{200B}b\u{FEFF}", "ab"), ("\u{7F}", "\u{FFFD}"),
    ])
  func `names are shown, their commands are not`(_ text: String, _ shown: String) {
    #expect(TerminalText.sanitized(text) == shown)
  }

  @Test func `long names end in an ellipsis`() {
    #expect(TerminalText.sanitized("abcdefgh", limit: 5) == "abcd…")
    #expect(TerminalText.sanitized("abcde", limit: 5) == "abcde")
  }

  @Test(
    arguments: [
      ([], ""), ([0x66], "Zg=="), ([0x66, 0x6F], "Zm8="), ([0x66, 0x6F, 0x6F], "Zm9v"),
      ([0xFF, 0xFE, 0xFD, 0xFC], "//79/A=="),
    ] as [([UInt8], String)])
  func `base64 is as the standard has it`(_ bytes: [UInt8], _ text: String) {
    var output: [UInt8] = []
    Base64.append(bytes[...], to: &output)
    #expect(String(decoding: output, as: UTF8.self) == text)
  }
}
