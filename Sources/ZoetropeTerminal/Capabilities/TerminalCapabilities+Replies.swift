internal import Zoetrope

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
