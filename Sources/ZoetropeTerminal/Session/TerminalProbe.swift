internal import Zoetrope

/// The questions that a terminal is asked, in one write.
///
/// The last is for its primary attributes, which every terminal answers: whatever has not been
/// answered by then never will be.
public struct TerminalQuery: Sendable, Hashable {
  /// The bytes to write.
  public let bytes: [UInt8]

  /// The image id of the graphics questions.
  static let imageID = 4211
  /// The image id of the test of edits, which makes and deletes an image of one pixel.
  static let editID = 4212

  /// All questions; inside a multiplexer, only those that it answers itself.
  ///
  /// With `asksForUTF8` a character of two bytes is written, between two questions where the cursor is,
  /// and erased.
  public init(isMultiplexed: Bool = false, asksForUTF8: Bool = false) {
    var bytes: [UInt8] = []
    if !isMultiplexed {
      // A program that was killed may have left an image half sent.
      bytes += TerminalMode.lastChunk
      bytes.append(text: "\u{1B}_Gi=\(Self.imageID),a=q,s=1,v=1,t=d,f=24;AAAA\u{1B}\\")
      // An edit is answered with the frame's number, or with an error, or not at all.
      bytes.append(text: "\u{1B}_Gi=\(Self.editID),a=t,q=1,s=1,v=1,f=24;AAAA\u{1B}\\")
      bytes.append(text: "\u{1B}_Gi=\(Self.editID),a=f,r=1,s=1,v=1,f=24;AAAA\u{1B}\\")
      bytes.append(text: "\u{1B}_Ga=d,d=I,i=\(Self.editID),q=2\u{1B}\\")
    }
    bytes.append(ascii: "\u{1B}[>q")
    bytes.append(ascii: "\u{1B}[?2026$p\u{1B}[?2048$p\u{1B}[?1070$p")
    bytes.append(ascii: "\u{1B}[?u")
    bytes.append(ascii: "\u{1B}[?1;1;0S")
    bytes.append(ascii: "\u{1B}[16t\u{1B}[14t\u{1B}[18t")
    bytes.append(ascii: "\u{1B}]11;?\u{1B}\\")
    if !isMultiplexed {
      // Sets a colour, asks for it back, and takes it back.
      bytes.append(ascii: "\u{1B}[48;2;1;2;3m\u{1B}P$qm\u{1B}\\\u{1B}[m")
    }
    if asksForUTF8 {
      bytes.append(ascii: "\u{1B}7\u{1B}[6n")
      bytes.append(text: "\u{E9}")
      bytes.append(ascii: "\u{1B}[6n\u{1B}8\u{1B}[2X")
    }
    bytes.append(ascii: "\u{1B}[5n")
    bytes.append(ascii: "\u{1B}[c")
    self.bytes = bytes
  }
}

/// Asks a terminal what it can do.
///
/// The caller has turned echo and line editing off before. Everything that arrives while it waits
/// and is not an answer is kept in ``typed``, so no key is lost; answers that come too late are
/// recognised by the ``InputDecoder`` that is handed on.
public struct TerminalProbe: Sendable {
  /// What was found.
  public private(set) var capabilities: TerminalCapabilities
  /// Keys that came in between.
  public private(set) var typed: [InputEvent] = []
  /// The replies, in the order in which they came.
  public private(set) var replies: [TerminalReply] = []
  /// Decodes what comes next; it may hold the start of a late answer.
  public private(set) var decoder = InputDecoder()

  /// Asks, and waits for the answer to the last question.
  ///
  /// `write` sends bytes; `read` waits at most as long as it is told and gives what arrived: no
  /// bytes when the time is up, nil when the input has ended. At most `patience` is spent (150 ms,
  /// and 1 s over SSH and for terminals that are known to answer), as `now` measures it.
  public init<Instant: InstantProtocol>(
    _ start: TerminalCapabilities, patience: Duration? = nil, now: () -> Instant,
    write: ([UInt8]) -> Void, read: (Duration) -> [UInt8]?
  ) where Instant.Duration == Duration {
    capabilities = start
    if start.isDumb { return }
    let isSlow = start.isRemote || start.isSureToAnswer
    let limit = patience ?? (isSlow ? .seconds(1) : .milliseconds(150))
    let deadline = now().advanced(by: limit)
    let query = TerminalQuery(
      isMultiplexed: start.multiplexer != .none, asksForUTF8: !start.hasUTF8)
    write(query.bytes)
    var isDone = false
    while !isDone {
      let left = now().duration(to: deadline)
      guard left > .zero, let bytes = read(left) else { break }
      for event in decoder.feed(bytes) {
        switch event {
        case .key(let key) where !start.hasUTF8 && key.key == .function(3):
          // Where the cursor is in row 1 has the form of this key.
          replies.append(.cursor(row: 1, column: Int(key.modifiers.rawValue) + 1))
        case .key: typed.append(event)
        case .reply(let reply):
          replies.append(reply)
          if case .attributes = reply { isDone = true }
        }
      }
    }
    capabilities.apply(replies)
  }
}

extension TerminalCapabilities {
  /// Takes over what the terminal answered to ``TerminalQuery``.
  ///
  /// The order of the replies does not matter. Mode 2026 is on only when the terminal says that it
  /// knows it; edits of kitty images only when one was answered with OK.
  public mutating func apply(_ replies: [TerminalReply]) {
    var textPixels: PixelSize?
    var textCells: (columns: Int, rows: Int)?
    var quirks = TerminalQuirks(name: name)
    var columns: [Int] = []
    for reply in replies {
      switch reply {
      case .attributes(let list):
        didAnswer = true
        if list.dropFirst().contains(4) { hasSixel = true }
      case .version(let text):
        if !text.isEmpty { name = text }
        quirks = TerminalQuirks(name: name)
        // The variable is lost on the way through ssh or sudo; the answer is not.
        if name.hasPrefix("tmux ") { multiplexer = .tmux }
      case .mode(2026, let state): hasSynchronizedOutput = state == 1 || state == 2
      case .mode(1070, let state):
        // Seen in xterm 379 and foot 1.13: on, and each image starts with colours of its own.
        canKeepSixelRegisters = state == 1
        keepsSixelRegisters = state == 2
      case .mode(2048, let state): hasInBandResize = state == 1 || state == 2
      case .keyboard: hasKittyKeyboard = true
      case .graphics(TerminalQuery.imageID, let message) where message == "OK":
        hasKittyGraphics = true
      case .graphics(TerminalQuery.editID, let message) where message == "OK":
        hasKittyEdits = true
      case .graphicsLimits(1, 0, let values):
        if let count = values.first, count > 1 {
          sixelRegisterCount = min(count, 256)
          hasSixel = true
        }
      case .ready: reportsStatus = true
      case .cursor(_, let column): columns.append(column)
      case .cellSize(let size): cellSize = size
      case .textAreaPixels(let size): textPixels = size
      case .textAreaCells(let columns, let rows): textCells = (columns, rows)
      case .color(11, let color): background = color
      case .setting(let text?) where Self.isFullColor(text):
        if colors != .none { colors = .full }
      default: break
      }
    }
    apply(quirks)
    // Before and after a character of two bytes, where the locale says that these are two characters.
    if !hasUTF8, columns.count == 2 { hasUTF8 = columns[1] - columns[0] == 1 }
    if quirks.hasKittyEdits, hasKittyGraphics { hasKittyEdits = true }
    if !hasKittyGraphics { hasKittyEdits = false }
    // tmux 3.3 swaps rows and columns here, so its answer is never divided by.
    if cellSize == nil, multiplexer == .none, let textPixels, let textCells, textCells.columns > 0,
      textCells.rows > 0
    {
      let size = PixelSize(
        width: textPixels.width / textCells.columns, height: textPixels.height / textCells.rows)
      if !size.isEmpty { cellSize = size }
    }
  }

  /// Whether a terminal that was told colour 1, 2, 3 kept it, in any of the spellings.
  private static func isFullColor(_ setting: String) -> Bool {
    ["48;2;1;2;3", "48:2:1:2:3", "48:2::1:2:3"].contains { setting.contains($0) }
  }
}
