/// One statement of a recipe: its words, and the indented lines below it.
///
/// A word is a string in which every scalar represents one byte, so that `"\xff"` is one byte.
struct RecipeStatement: Sendable, Hashable {
  var line: Int
  var words: [String]
  var body: [RecipeStatement] = []
  /// The text between the bars of a row of pixels.
  var row: [UInt8]?

  /// The statements of `text`. `#` starts a comment; an indented line belongs to the one above.
  static func parse(_ text: String) throws(RecipeError) -> [RecipeStatement] {
    var statements: [RecipeStatement] = []
    let lines = Array(text.utf8).split(separator: 0x0a, omittingEmptySubsequences: false)
    for (index, bytes) in lines.enumerated() {
      guard let statement = try RecipeStatement(bytes, line: index + 1) else { continue }
      if bytes.first == 0x20 {
        guard !statements.isEmpty else {
          throw RecipeError(index + 1, "an indented line with nothing above it")
        }
        statements[statements.count - 1].body.append(statement)
      } else {
        statements.append(statement)
      }
    }
    return statements
  }

  private init?(_ bytes: ArraySlice<UInt8>, line: Int) throws(RecipeError) {
    self.line = line
    words = []
    let content = bytes.drop { $0 == 0x20 }
    if content.first == 0x7c {
      guard let end = content.lastIndex(of: 0x7c), end > content.startIndex else {
        throw RecipeError(line, "a row of pixels needs a bar at both ends")
      }
      row = Array(content[(content.startIndex + 1)..<end])
      return
    }
    var scanner = WordScanner(content, line: line)
    while let word = try scanner.next() { words.append(word) }
    if words.isEmpty { return nil }
  }
}

/// Splits a line into words; quoted words may have spaces and escapes (`\n`, `\0`, `\"`, `\\`,
/// `\xHH`).
private struct WordScanner {
  private var rest: ArraySlice<UInt8>
  private let line: Int

  init(_ bytes: ArraySlice<UInt8>, line: Int) {
    rest = bytes
    self.line = line
  }

  mutating func next() throws(RecipeError) -> String? {
    rest = rest.drop { $0 == 0x20 }
    guard let first = rest.first, first != 0x23 else { return nil }
    var scalars = String.UnicodeScalarView()
    var isQuoted = false
    while let byte = rest.popFirst() {
      switch byte {
      case 0x22: isQuoted.toggle()
      case 0x5c where isQuoted: scalars.append(Unicode.Scalar(try escape()))
      case 0x20 where !isQuoted: return String(scalars)
      default: scalars.append(Unicode.Scalar(byte))
      }
    }
    if isQuoted { throw RecipeError(line, "a quote is not closed") }
    return String(scalars)
  }

  private mutating func escape() throws(RecipeError) -> UInt8 {
    switch rest.popFirst() {
    case 0x6e: return 10
    case 0x30: return 0
    case 0x22: return 0x22
    case 0x5c: return 0x5c
    case 0x78:
      let digits = rest.prefix(2)
      rest = rest.dropFirst(2)
      guard let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16) else {
        throw RecipeError(line, "\\x needs two hexadecimal digits")
      }
      return value
    default: throw RecipeError(line, "an unknown escape")
    }
  }
}
