/// The words of a statement, taken one by one; words left at the end are an error.
struct RecipeArguments {
  let line: Int
  let keyword: String
  private var positional: ArraySlice<String>
  private var options: [String: String]

  init(_ statement: RecipeStatement) {
    line = statement.line
    keyword = statement.words.first ?? ""
    positional = []
    options = [:]
    for word in statement.words.dropFirst() {
      if let equals = word.firstIndex(of: "="), equals > word.startIndex,
        word[..<equals].allSatisfy({ $0.isLetter || $0 == "-" })
      {
        options[String(word[..<equals])] = String(word[word.index(after: equals)...])
      } else {
        positional.append(word)
      }
    }
  }

  /// The next word; nil when there is none.
  mutating func next() -> String? { positional.popFirst() }

  /// Every word that is left.
  mutating func rest() -> [String] {
    defer { positional = [] }
    return Array(positional)
  }

  /// The next word, which must be there.
  mutating func word(_ what: String) throws(RecipeError) -> String {
    guard let word = positional.popFirst() else { throw error("\(what) is missing") }
    return word
  }

  /// The next word as a number.
  mutating func int(_ what: String) throws(RecipeError) -> Int {
    try number(try word(what))
  }

  /// Whether the word is among the remaining ones; removes it.
  mutating func flag(_ name: String) -> Bool {
    guard let index = positional.firstIndex(of: name) else { return false }
    positional.remove(at: index)
    return true
  }

  /// The value of `name=value`; it is taken.
  mutating func option(_ name: String) -> String? { options.removeValue(forKey: name) }

  /// The value of `name=number`.
  mutating func intOption(_ name: String) throws(RecipeError) -> Int? {
    guard let text = option(name) else { return nil }
    return try number(text)
  }

  /// The value of `name=1,2,3`.
  mutating func listOption(_ name: String) throws(RecipeError) -> [Int]? {
    guard let text = option(name) else { return nil }
    var result: [Int] = []
    for part in text.split(separator: ",") { result.append(try number(String(part))) }
    return result
  }

  func number(_ text: String) throws(RecipeError) -> Int {
    let value =
      text.hasPrefix("0x") ? Int(text.dropFirst(2), radix: 16) : Int(text, radix: 10)
    guard let value else { throw error("“\(text)” is not a number") }
    return value
  }

  func error(_ message: String) -> RecipeError { RecipeError(line, "\(keyword): \(message)") }

  /// Throws when a word or option was not taken.
  func finish() throws(RecipeError) {
    if let word = positional.first { throw error("“\(word)” is not understood") }
    if let key = options.keys.min() { throw error("“\(key)=” is not understood") }
  }
}

extension String {
  /// The bytes that the scalars of a recipe's word represent.
  var recipeBytes: [UInt8] { unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
}
