internal import ZoetropeFrames

/// The queries that determine the capabilities of a terminal, to be sent in a single write.
///
/// The last query asks for the primary attributes, which every terminal reports. Queries that have not been answered
/// when this report arrives will not be answered.
package struct TerminalQuery: Sendable, Hashable {
  /// The bytes to write to the terminal.
  package let bytes: [UInt8]

  /// The image id of the query for kitty's graphics protocol.
  static let imageID = 4211
  /// The image id of the test for edits, which creates an image of one pixel and then deletes it.
  static let editID = 4212

  /// Creates all queries or, inside a multiplexer, only those that the multiplexer itself answers.
  ///
  /// With `asksForUTF8`, a character of two bytes is written between two queries of the cursor's position, and then
  /// erased.
  package init(isMultiplexed: Bool = false, asksForUTF8: Bool = false) {
    var bytes: [UInt8] = []
    if !isMultiplexed {
      // An earlier program that was killed may have left an image incomplete.
      bytes += TerminalMode.lastChunk
      bytes.append(text: "\u{1B}_Gi=\(Self.imageID),a=q,s=1,v=1,t=d,f=24;AAAA\u{1B}\\")
      // The terminal answers an edit with the number of the frame, with an error, or not at all.
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
      // Set a colour, query it, and reset it.
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

/// Queries a terminal for its capabilities.
///
/// The caller must have turned off echo and line editing. Keys that the user types during the probe are kept in
/// ``typed``. So that late answers are not mistaken for keys, use ``decoder`` for all further input.
public struct TerminalProbe: Sendable {
  /// The capabilities that the probe found.
  public private(set) var capabilities: TerminalCapabilities
  /// The keys and mouse events that arrived during the probe.
  public private(set) var typed: [InputEvent] = []
  /// The replies of the terminal, in the order in which they arrived.
  package private(set) var replies: [TerminalReply.Content] = []
  /// The decoder for further input. It may contain the start of a late answer.
  public private(set) var decoder = InputDecoder()

  /// Sends the queries, and waits for the answer to the last query.
  ///
  /// - Parameters:
  ///   - start: The capabilities known from the environment. If the terminal is dumb, nothing is sent.
  ///   - patience: The maximum time to wait. Default: nil, which waits for one second over SSH and for terminals that
  ///     are known to answer, and otherwise for 150 ms.
  ///   - now: A closure that returns the current time.
  ///   - write: A closure that sends bytes to the terminal.
  ///   - read: A closure that waits for input for up to the given time, and returns the bytes that arrived. It returns
  ///     an empty array if no input arrived in this time, and nil if the input has ended.
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
          // A report of a cursor in row 1 has the same form as this key.
          replies.append(.cursor(row: 1, column: Int(key.modifiers.rawValue) + 1))
        case .key, .mouse: typed.append(event)
        case .reply(let reply):
          replies.append(reply.content)
          if case .attributes = reply.content { isDone = true }
        }
      }
    }
    capabilities.apply(replies)
  }
}

extension TerminalCapabilities {
  /// Applies the replies of a terminal to the queries of ``TerminalQuery``. The replies may be in any order.
  ///
  /// Synchronized output and kitty's edits count as supported only if the terminal confirmed them, except for edits in
  /// terminals that are known by name to support them.
  package mutating func apply(_ replies: [TerminalReply.Content]) {
    var textPixels: PixelSize?
    var textCells: (columns: Int, rows: Int)?
    var quirks = TerminalQuirks(name: name)
    var columns: [Int] = []
    var privateRegisters = 0
    for reply in replies {
      switch reply {
      case .attributes(let list):
        didAnswer = true
        if list.dropFirst().contains(4) { hasSixel = true }
      case .version(let text):
        if !text.isEmpty { name = text }
        quirks = TerminalQuirks(name: name)
        // `TMUX` is lost through ssh and sudo, but the name that the terminal reports is not.
        if name.hasPrefix("tmux ") { multiplexer = .tmux }
      case .mode(2026, let state): hasSynchronizedOutput = state == 1 || state == 2
      case .mode(1070, let state): privateRegisters = state
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
      case .cellSize(let size): if size.isCell { cellSize = size }
      case .textAreaPixels(let size): textPixels = size
      case .textAreaCells(let columns, let rows): textCells = (columns, rows)
      case .color(11, let color): background = color
      case .setting(let text?) where Self.isFullColor(text):
        if colors != .none { colors = .full }
      default: break
      }
    }
    apply(quirks)
    if quirks.keepsSixelRegisters {
      // While this mode is set, as in foot 1.13 by default, each image starts with its own colours.
      canKeepSixelRegisters = privateRegisters == 1
      keepsSixelRegisters = privateRegisters == 2
    }
    // `columns` contains the columns before and after a two-byte character. The character takes two columns if the
    // terminal does not use UTF-8.
    if !hasUTF8, columns.count == 2 { hasUTF8 = columns[1] - columns[0] == 1 }
    if quirks.hasKittyEdits, hasKittyGraphics { hasKittyEdits = true }
    if !hasKittyGraphics { hasKittyEdits = false }
    // tmux 3.3 swaps rows and columns when it reports the size of the text area, so such reports are not used inside a
    // multiplexer.
    if cellSize == nil, multiplexer == .none, let textPixels, let textCells, textCells.columns > 0,
      textCells.rows > 0
    {
      let size = PixelSize(
        width: textPixels.width / textCells.columns, height: textPixels.height / textCells.rows)
      if size.isCell { cellSize = size }
    }
  }

  /// Returns whether a terminal kept the 24-bit colour that was sent to it: red 1, green 2 and blue 3. The notation of
  /// `setting` may vary.
  private static func isFullColor(_ setting: String) -> Bool {
    ["48;2;1;2;3", "48:2:1:2:3", "48:2::1:2:3"].contains { setting.contains($0) }
  }
}
