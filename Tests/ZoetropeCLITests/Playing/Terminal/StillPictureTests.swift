import Glibc
import TestRunning
import Testing

/// Pictures that stay in the text: whole on any terminal, one below the other, and never taken away.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct StillPictureTests {
  /// Noise, which no compression makes small: some seconds on a slow link.
  private static let large: [UInt8] = {
    let (width, height): (UInt8, UInt8) = (200, 160)
    var bytes = Array("GIF89a".utf8) + [width, 0, height, 0, 0xF6, 0, 0]
    var state: UInt32 = 1
    func next() -> UInt8 {
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(truncatingIfNeeded: state >> 24)
    }
    for _ in 0..<128 * 3 { bytes.append(next()) }
    bytes += [0x2C, 0, 0, 0, 0, width, 0, height, 0, 0, 7]
    var codes: [UInt8] = []
    for pixel in 0..<Int(width) * Int(height) {
      // Cleared before there are codes of nine bits.
      if pixel % 64 == 0 { codes.append(0x80) }
      codes.append(next() & 0x7F)
    }
    codes.append(0x81)
    for start in stride(from: 0, to: codes.count, by: 255) {
      let block = codes[start..<min(start + 255, codes.count)]
      bytes += [UInt8(block.count)] + block
    }
    return bytes + [0, 0x3B]
  }()

  /// A picture of 2 x `rows` cells in one colour.
  private static func block(_ color: UInt8, rows: Int) -> [UInt8] {
    SampleGIF(width: 16, height: 16 * rows, frames: [(color, 10)]).bytes
  }

  private func still(
    _ arguments: [String], rate: Double? = nil, answers: TerminalModel.Answers = .modern
  ) throws -> Pseudoterminal {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(Self.large, to: "large.gif")
    var model = TerminalModel()
    model.answers = answers
    let terminal = try Pseudoterminal(
      Tool.program, ["play", "--frame", "0"] + arguments + ["large.gif"], model: model,
      directory: tool.directory)
    if let rate { terminal.slowDown(to: rate) }
    #expect(terminal.end() == 0)
    #expect(terminal.isRestored)
    #expect(!terminal.model.state.isInSequence)
    return terminal
  }

  @Test(arguments: ["sixel", "half", "iterm2"])
  func `a slow terminal gets all that a fast one gets`(_ mode: String) throws {
    let fast = try still(["--protocol", mode])
    let slow = try still(["--protocol", mode], rate: 60_000)
    #expect(fast.output.count > 20_000)
    #expect(fast.output == slow.output)
    #expect(fast.model.cells == slow.model.cells)
  }

  @Test(arguments: [nil, 60_000])
  func `all chunks of an image are sent`(_ rate: Double?) throws {
    let terminal = try still(["--protocol", "kitty-images"], rate: rate)
    let text = String(decoding: terminal.output, as: UTF8.self)
    let chunks = text.split(separator: "\u{1B}_G").dropFirst()
    let opened = chunks.filter { $0.split(separator: ";")[0].contains("m=1") }.count
    // The image's last chunk; the query at the start and the final reset have one each.
    let ended = chunks.filter { $0.split(separator: ";")[0].contains("m=0") }
    #expect(opened > 3)
    #expect(ended.filter { !$0.hasPrefix("m=0,q=2") }.count == 1)
    #expect(terminal.model.state.images.count == 1)
    // A query after the picture might be answered only when the shell reads.
    #expect(terminal.model.fenceCount <= 1)
  }

  @Test(arguments: [("q", 0), ("\u{3}", 130)] as [(String, Int32)])
  func `a key ends a picture that takes long, and closes it`(
    _ key: String, _ status: Int32
  ) throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(Self.large, to: "large.gif")
    var model = TerminalModel()
    model.answers = .modern
    let terminal = try Pseudoterminal(
      Tool.program, ["play", "--frame", "0", "--protocol", "kitty-images", "large.gif"],
      model: model, directory: tool.directory)
    try #require(terminal.waitFor("\u{1B}[6n"))
    terminal.slowDown(to: 20_000)
    try #require(terminal.waitFor("_Ga=T"))
    terminal.type(key)
    #expect(terminal.end() == status)
    #expect(terminal.isRestored)
    #expect(terminal.model.state.isCursorShown && !terminal.model.state.isInSequence)
    let last = String(decoding: terminal.output.suffix(80), as: UTF8.self)
    #expect(last.contains("\u{18}\u{1B}\\\u{1B}_Gm=0,q=2;\u{1B}\\"))
  }

  @Test func `a picture is sent whole before another file is drawn`() throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(Self.large, to: "a.gif")
    try tool.write(Self.block(1, rows: 2), to: "b.gif")
    var model = TerminalModel()
    model.answers = .modern
    let terminal = try Pseudoterminal(
      Tool.program, ["play", "--frame", "0", "--protocol", "kitty-images", "a.gif", "b.gif"],
      model: model, directory: tool.directory)
    try #require(terminal.waitFor("\u{1B}[6n"))
    terminal.slowDown(to: 60_000)
    try #require(terminal.waitFor("_Ga=T"))
    terminal.type("n")
    #expect(terminal.end() == 0)
    // Nothing but the end of a chunk, or CAN before it, follows the data of a chunk.
    let text = String(decoding: terminal.output, as: UTF8.self)
    for chunk in text.split(separator: "\u{1B}_G").dropFirst() {
      #expect(chunk.drop { $0 != "\u{1B}" }.hasPrefix("\u{1B}\\"))
    }
    #expect(terminal.model.state.images.count == 2)
  }

  @Test(arguments: [("\u{3}", 130), ("\u{1C}", 131)] as [(String, Int32)])
  func `a key interrupts the command while the terminal is queried`(
    _ key: String, _ status: Int32
  ) throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(Self.block(0, rows: 1), to: "a.gif")
    var model = TerminalModel()
    model.answers = .none
    let terminal = try Pseudoterminal(
      Tool.program, ["still", "a.gif"], model: model,
      environment: ["TERM=xterm-256color", "ZOETROPE_TERMINAL_PATIENCE=100"],
      directory: tool.directory)
    try #require(terminal.waitFor("\u{1B}[c"))
    terminal.type(key + "\u{1B}[?62;c")
    #expect(terminal.end() == status)
    #expect(terminal.isRestored)
    #expect(terminal.model.state == TerminalState())
  }

  @Test func `several pictures are drawn below each other, each in its own height`() throws {
    let files = [
      "a.gif": Self.block(0, rows: 1), "b.gif": Self.block(1, rows: 3),
      "c.gif": Self.block(2, rows: 2),
    ]
    let session = try PlayerSession(
      ["--frame", "0", "--fit", "shrink", "--protocol", "half"], files: files, columns: 40)
    #expect(session.terminal.end() == 0)
    session.tool.cleanUp()
    let model = session.terminal.model
    let colors = (0..<model.rows).map { model.cells[$0 * model.columns].pen.joined() }
    let drawn = colors.filter { !$0.isEmpty }
    try #require(drawn.count == 6)
    #expect(Set(drawn).count == 3)
    #expect(drawn == [drawn[0], drawn[1], drawn[1], drawn[1], drawn[4], drawn[4]])
    // One column each, and no gap between them.
    #expect(colors.firstIndex { !$0.isEmpty }.map { Array(colors[$0..<$0 + 6]) } == drawn)
    #expect((0..<model.rows).allSatisfy { model.cells[$0 * model.columns + 2].pen.isEmpty })
  }

  @Test func `pictures that do not fit the rest of the screen scroll it`() throws {
    let files = ["a.gif": Self.block(0, rows: 5), "b.gif": Self.block(1, rows: 4)]
    let session = try PlayerSession(
      ["--frame", "0", "--fit", "shrink", "--protocol", "half"], files: files, columns: 40, rows: 8)
    #expect(session.terminal.end() == 0)
    session.tool.cleanUp()
    let model = session.terminal.model
    let drawn = (0..<8).map { model.cells[$0 * 40].pen.joined() }
    // Three rows of the first are left, then four, and the shell's.
    #expect(drawn == [drawn[0], drawn[0], drawn[0], drawn[3], drawn[3], drawn[3], drawn[3], ""])
    #expect(!drawn[0].isEmpty && !drawn[3].isEmpty && drawn[0] != drawn[3])
  }

  @Test(arguments: ["--frame 0", "--inline --once"])
  func `pictures that were left in the text stay when others are drawn`(
    _ options: String
  ) throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(Self.block(0, rows: 1), to: "a.gif")
    try tool.write(Self.block(1, rows: 2), to: "b.gif")
    var model = TerminalModel()
    model.answers = .modern
    let play = "'\(Tool.program)' play --protocol kitty --fit shrink \(options)"
    let terminal = try Pseudoterminal(
      "sh", ["-c", "\(play) a.gif; \(play) b.gif; \(play) a.gif"], model: model,
      directory: tool.directory)
    #expect(terminal.end() == 0)
    #expect(terminal.model.state.images.count == 3)
    #expect(!terminal.model.state.images.contains("4711"))
  }
}
