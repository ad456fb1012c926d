internal import ZoetropeFrames

/// The queries that determine a terminal's capabilities, as one write.
///
/// The last query is for the primary attributes, which every terminal reports. Queries that are unanswered by then will
/// not be answered.
package struct TerminalQuery: Sendable, Hashable {
  /// The bytes to write.
  package let bytes: [UInt8]

  /// The image id of the graphics query.
  static let imageID = 4211
  /// The image id for testing edits, which creates and deletes an image of one pixel.
  static let editID = 4212

  /// Creates all queries; inside a multiplexer, only those that it answers itself.
  ///
  /// With `asksForUTF8` a character of two bytes is written between two queries of the cursor
  /// position, and then erased.
  package init(isMultiplexed: Bool = false, asksForUTF8: Bool = false) {
    var bytes: [UInt8] = []
    if !isMultiplexed {
      // A program that was killed may have left an image incomplete.
      bytes += TerminalMode.lastChunk
      bytes.append(text: "\u{1B}_Gi=\(Self.imageID),a=q,s=1,v=1,t=d,f=24;AAAA\u{1B}\\")
      // An edit is answered with the frame's number, with an error, or not at all.
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
      // Sets a colour, queries it, and resets it.
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
/// The caller must have turned off echo and line editing. Keys that arrive meanwhile are kept in ``typed``.
/// Late answers are recognized if ``decoder`` is used from then on.
public struct TerminalProbe: Sendable {
  /// The capabilities that were found.
  public private(set) var capabilities: TerminalCapabilities
  /// Keys that were typed meanwhile.
  public private(set) var typed: [InputEvent] = []
  /// The replies, in the order in which they arrived.
  package private(set) var replies: [TerminalReply.Content] = []
  /// The decoder for further input; it may hold the start of a late answer.
  public private(set) var decoder = InputDecoder()

  /// Sends the queries, and waits for the answer to the last one.
  ///
  /// - Parameters:
  ///   - start: The capabilities known from the environment. Nothing is sent to a dumb terminal.
  ///   - patience: The longest wait. Default: 150 ms; one second over SSH and for terminals that are
  ///     known to answer.
  ///   - now: The current time.
  ///   - write: Sends bytes to the terminal.
  ///   - read: Waits for input up to the given time; returns an empty array when the time is up, and nil
  ///     when the input has ended.
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
          // A cursor in row 1 is reported in the form of this key.
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
  /// Applies a terminal's replies to `TerminalQuery`, in any order.
  ///
  /// Synchronized output and kitty's edits count as supported only if the terminal confirmed them.
  package mutating func apply(_ replies: [TerminalReply.Content]) {
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
        // `TMUX` is lost through ssh or sudo, but the terminal's name is not.
        if name.hasPrefix("tmux ") { multiplexer = .tmux }
      case .mode(2026, let state): hasSynchronizedOutput = state == 1 || state == 2
      case .mode(1070, let state):
        // xterm 379 and foot 1.13 set this mode, so each image starts with its own colours.
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
    // The columns before and after a two-byte character, which takes two columns if the terminal does not use UTF-8.
    if !hasUTF8, columns.count == 2 { hasUTF8 = columns[1] - columns[0] == 1 }
    if quirks.hasKittyEdits, hasKittyGraphics { hasKittyEdits = true }
    if !hasKittyGraphics { hasKittyEdits = false }
    // tmux 3.3 swaps rows and columns here, so its answer is not used.
    if cellSize == nil, multiplexer == .none, let textPixels, let textCells, textCells.columns > 0,
      textCells.rows > 0
    {
      let size = PixelSize(
        width: textPixels.width / textCells.columns, height: textPixels.height / textCells.rows)
      if size.isCell { cellSize = size }
    }
  }

  /// Whether a terminal kept the colour 1, 2, 3 that it was sent, in any notation.
  private static func isFullColor(_ setting: String) -> Bool {
    ["48;2;1;2;3", "48:2:1:2:3", "48:2::1:2:3"].contains { setting.contains($0) }
  }
}
