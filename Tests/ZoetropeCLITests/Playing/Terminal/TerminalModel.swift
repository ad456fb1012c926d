/// A terminal without a window: applies what a program writes, and answers its queries.
struct TerminalModel {
  struct Cell: Equatable {
    var character: Unicode.Scalar = " "
    var pen: [String] = []
  }

  /// What this terminal answers.
  enum Answers {
    /// Nothing at all.
    case none
    /// Primary attributes and `CSI 5 n`, as any terminal does.
    case basic
    /// Synchronized output and kitty's graphics as well.
    case modern
  }

  var answers = Answers.basic
  /// Whether bytes above 127 are parts of characters; else each of them is one.
  var takesUTF8 = true
  private(set) var columns: Int
  private(set) var rows: Int
  private(set) var state = TerminalState()
  private(set) var cells: [Cell]
  /// Answers that have not been taken.
  private(set) var replies: [UInt8] = []
  /// Times that the screen scrolled, or a line went on below, while the alternate screen was shown.
  private(set) var scrollCount = 0
  private(set) var wrapCount = 0
  /// Characters that no terminal should be sent, such as a bell.
  private(set) var strays: [UInt8] = []
  /// How often the program asked whether its bytes have come this far.
  private(set) var fenceCount = 0
  private(set) var column = 0
  private(set) var row = 0
  private var pending: [UInt8] = []
  private var mainCells: [Cell] = []
  private var mainPlace = (column: 0, row: 0)
  /// What DECSC saves: the place and the pen.
  private var saved = (column: 0, row: 0, pen: [String]())
  private var isWrapPending = false

  init(columns: Int = 80, rows: Int = 24) {
    self.columns = columns
    self.rows = rows
    cells = Array(repeating: Cell(), count: columns * rows)
  }

  /// The text of a row.
  func text(_ row: Int) -> String {
    var text = String.UnicodeScalarView()
    var index = row * columns
    let end = index + columns
    while index < end {
      text.append(cells[index].character)
      index += 1
    }
    return String(text)
  }

  /// The text of all rows.
  var screen: String { (0..<rows).map { text($0) }.joined(separator: "\n") }

  mutating func takeReplies() -> [UInt8] {
    defer { replies = [] }
    return replies
  }

  /// Cuts the screen off, or makes it larger, as terminals do with the alternate one.
  mutating func resize(columns: Int, rows: Int) {
    var resized = Array(repeating: Cell(), count: columns * rows)
    for row in 0..<min(rows, self.rows) {
      for column in 0..<min(columns, self.columns) {
        resized[row * columns + column] = cells[row * self.columns + column]
      }
    }
    cells = resized
    (self.columns, self.rows) = (columns, rows)
    mainCells = Array(repeating: Cell(), count: columns * rows)
    (column, row) = (min(column, columns - 1), min(row, rows - 1))
    isWrapPending = false
  }

  mutating func apply(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { push(byte) }
    state.isInSequence = !pending.isEmpty
  }

  private mutating func push(_ byte: UInt8) {
    if pending.isEmpty {
      if byte == 0x1B || (byte >= 0xC0 && takesUTF8) { pending = [byte] } else { plain(byte) }
      return
    }
    if byte == 0x18 || byte == 0x1A {
      pending = []
      return
    }
    pending.append(byte)
    if pending[0] == 0x1B {
      if isComplete {
        let sequence = pending
        pending = []
        perform(sequence)
      }
    } else if pending.count == (pending[0] >= 0xF0 ? 4 : pending[0] >= 0xE0 ? 3 : 2) {
      for scalar in String(decoding: pending, as: UTF8.self).unicodeScalars { put(scalar) }
      pending = []
    }
  }

  private var isComplete: Bool {
    let last = pending[pending.count - 1]
    switch pending[1] {
    case UInt8(ascii: "["): return pending.count > 2 && (0x40...0x7E).contains(last)
    case UInt8(ascii: "]"), UInt8(ascii: "_"), UInt8(ascii: "P"):
      return last == 7
        || (pending.count > 3 && last == UInt8(ascii: "\\") && pending[pending.count - 2] == 0x1B)
    default: return true
    }
  }

  private mutating func plain(_ byte: UInt8) {
    switch byte {
    case 13: (column, isWrapPending) = (0, false)
    case 10: lineFeed()
    case 8: column = max(column - 1, 0)
    case 0x18, 0x1A: break
    case 0x20...0x7E: put(Unicode.Scalar(byte))
    case 0xA0... where !takesUTF8: put(Unicode.Scalar(byte))
    default: strays.append(byte)
    }
  }

  /// What erased and scrolled-in cells become: as in xterm, they have the current background.
  private var blank: Cell { Cell(pen: state.pen.filter { $0.hasPrefix("b") }) }

  private mutating func lineFeed() {
    isWrapPending = false
    if row + 1 < rows {
      row += 1
      return
    }
    if state.isAlternate { scrollCount += 1 }
    cells.removeFirst(columns)
    cells += Array(repeating: blank, count: columns)
  }

  private mutating func put(_ scalar: Unicode.Scalar) {
    // Marks belong to the character before.
    if scalar.properties.canonicalCombiningClass != .notReordered { return }
    if isWrapPending, state.wraps {
      if state.isAlternate { wrapCount += 1 }
      column = 0
      lineFeed()
    }
    cells[row * columns + column] = Cell(character: scalar, pen: state.pen)
    if column + 1 < columns { column += 1 } else { isWrapPending = true }
  }

  private mutating func perform(_ sequence: [UInt8]) {
    let body = String(decoding: sequence[2...], as: UTF8.self)
    switch sequence[1] {
    case UInt8(ascii: "["): control(String(body.dropLast()), sequence[sequence.count - 1])
    case UInt8(ascii: "7"): saved = (column, row, state.pen)
    case UInt8(ascii: "8"):
      (column, row, isWrapPending) = (saved.column, saved.row, false)
      state.pen = saved.pen
    case UInt8(ascii: "_"): graphics(body)
    default: break
    }
  }

  private mutating func control(_ body: String, _ final: UInt8) {
    let numbers = body.split(separator: ";").map { Int($0) ?? 0 }
    let first = max(numbers.first ?? 1, 1)
    switch final {
    case UInt8(ascii: "h"), UInt8(ascii: "l"): mode(body, isOn: final == UInt8(ascii: "h"))
    case UInt8(ascii: "H"):
      (column, row) = (
        min(max(numbers.dropFirst().first ?? 1, 1), columns) - 1, min(first, rows) - 1
      )
      isWrapPending = false
    case UInt8(ascii: "C"): (column, isWrapPending) = (min(column + first, columns - 1), false)
    case UInt8(ascii: "m"): rendition(body)
    case UInt8(ascii: "J"):
      let start = body == "2" ? 0 : row * columns + column
      for index in start..<cells.count { cells[index] = blank }
    case UInt8(ascii: "X"):
      for index in column..<min(column + first, columns) { cells[row * columns + index] = blank }
    case UInt8(ascii: "K"):
      for index in column..<columns { cells[row * columns + index] = blank }
    case UInt8(ascii: "c") where body.isEmpty: answer("\u{1B}[?62;c", from: .basic)
    case UInt8(ascii: "n") where body == "5":
      fenceCount += 1
      answer("\u{1B}[0n", from: .basic)
    case UInt8(ascii: "n") where body == "6":
      answer("\u{1B}[\(row + 1);\(column + 1)R", from: .basic)
    case UInt8(ascii: "p") where body == "?2026$": answer("\u{1B}[?2026;2$y", from: .modern)
    default: break
    }
  }

  private mutating func answer(_ text: String, from level: Answers) {
    if answers == .modern || (answers == .basic && level == .basic) { replies += Array(text.utf8) }
  }

  private mutating func mode(_ body: String, isOn: Bool) {
    switch body {
    case "?25": state.isCursorShown = isOn
    case "?7": state.wraps = isOn
    case "?2004": state.marksPastes = isOn
    case "?2026": state.isSynchronized = isOn
    case "?1000", "?1002", "?1003", "?1006", "?1016":
      if isOn { state.mouseModes.insert(body) } else { state.mouseModes.remove(body) }
    case "?1049" where isOn != state.isAlternate:
      state.isAlternate = isOn
      if isOn {
        (mainCells, mainPlace) = (cells, (column, row))
        cells = Array(repeating: Cell(), count: columns * rows)
      } else {
        cells = mainCells
        (column, row) = (min(mainPlace.column, columns - 1), min(mainPlace.row, rows - 1))
      }
    default: break
    }
  }

  /// Keeps the last of each kind of attribute: foreground, background, the rest.
  private mutating func rendition(_ body: String) {
    var parts = body.split(separator: ";").map(String.init)[...]
    if parts.isEmpty { parts = ["0"] }
    while let part = parts.popFirst() {
      guard let value = Int(part), value != 0 else {
        state.pen = []
        continue
      }
      var word = part
      if value == 38 || value == 48 {
        let count = parts.first == "5" ? 2 : 4
        word = ([part] + parts.prefix(count)).joined(separator: ";")
        parts = parts.dropFirst(count)
      }
      let isBack = (40...49).contains(value) || (100...107).contains(value)
      state.pen.removeAll { $0.hasPrefix(isBack ? "b" : "f") }
      if value != 39, value != 49 { state.pen.append((isBack ? "b" : "f") + word) }
      state.pen.sort()
    }
  }

  private mutating func graphics(_ body: String) {
    let keys = body.dropFirst().prefix { $0 != ";" && $0 != "\u{1B}" }.split(separator: ",")
    func value(_ key: String) -> String {
      keys.first { $0.hasPrefix(key + "=") }.map { String($0.dropFirst(key.count + 1)) } ?? ""
    }
    let id = value("i")
    switch value("a") {
    case "q": answer("\u{1B}_Gi=\(id);OK\u{1B}\\", from: .modern)
    case "T", "t": if answers == .modern { state.images.insert(id) }
    case "f": if value("q").isEmpty { answer("\u{1B}_Gi=\(id),r=2;OK\u{1B}\\", from: .modern) }
    case "d": state.images.remove(id)
    default: break
    }
  }
}
