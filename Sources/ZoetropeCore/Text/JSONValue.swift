/// A value parsed from JSON text (RFC 8259). The text may be untrusted.
package indirect enum JSONValue: Sendable, Hashable {
  case null
  case boolean(Bool)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// An error that describes where and why JSON text is invalid.
  package struct Fault: Error, Sendable, Hashable {
    package let byteOffset: Int
    package let detail: String
  }

  /// Parses one value and the whitespace around it. If an object has several fields with the same key, the last one is
  /// used.
  package init(parsing bytes: ArraySlice<UInt8>) throws(Fault) {
    var parser = JSONParser(bytes)
    self = try parser.value(depth: 0)
    try parser.end()
  }

  /// The value of the field `key` of this object, or nil if there is no such field or this value is not an object.
  package subscript(key: String) -> JSONValue? {
    if case .object(let fields) = self { fields[key] } else { nil }
  }

  package var elements: [JSONValue]? { if case .array(let list) = self { list } else { nil } }
  package var text: String? { if case .string(let text) = self { text } else { nil } }
  package var truth: Bool? { if case .boolean(let truth) = self { truth } else { nil } }

  /// The number as an integer, or nil if this value is not a number, is not an integer, or has a magnitude above 2⁵³.
  package var integer: Int? {
    guard case .number(let number) = self, number.magnitude <= 0x1p53 else { return nil }
    return Int(exactly: number)
  }
}

/// A parser that reads JSON from left to right. Arrays and objects may be nested at most ``deepest`` levels deep.
private struct JSONParser {
  private static let deepest = 64

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  private func fault(_ detail: String) -> JSONValue.Fault {
    JSONValue.Fault(byteOffset: rest.startIndex, detail: detail)
  }

  private mutating func skipSpace() {
    rest = rest.drop { [0x20, 0x09, 0x0a, 0x0d].contains($0) }
  }

  /// Skips whitespace, and then consumes `byte` if it comes next. Returns whether `byte` was consumed.
  private mutating func take(_ byte: Unicode.Scalar) -> Bool {
    skipSpace()
    guard rest.first == UInt8(ascii: byte) else { return false }
    rest.removeFirst()
    return true
  }

  mutating func end() throws(JSONValue.Fault) {
    skipSpace()
    if !rest.isEmpty { throw fault("there is more after the value") }
  }

  mutating func value(depth: Int) throws(JSONValue.Fault) -> JSONValue {
    guard depth < Self.deepest else { throw fault("the value is nested too deeply") }
    if take("{") { return try object(depth: depth) }
    if take("[") { return try array(depth: depth) }
    if take("\"") { return .string(try string()) }
    for (word, value) in [
      ("null", JSONValue.null), ("true", .boolean(true)), ("false", .boolean(false)),
    ]
    where rest.starts(with: word.utf8) {
      rest = rest.dropFirst(word.utf8.count)
      return value
    }
    return try number()
  }

  private mutating func object(depth: Int) throws(JSONValue.Fault) -> JSONValue {
    var fields: [String: JSONValue] = [:]
    if take("}") { return .object(fields) }
    repeat {
      guard take("\"") else { throw fault("a key is missing") }
      let key = try string()
      guard take(":") else { throw fault("a colon is missing") }
      fields[key] = try value(depth: depth + 1)
    } while take(",")
    guard take("}") else { throw fault("an object is not closed") }
    return .object(fields)
  }

  private mutating func array(depth: Int) throws(JSONValue.Fault) -> JSONValue {
    var list: [JSONValue] = []
    if take("]") { return .array(list) }
    repeat { list.append(try value(depth: depth + 1)) } while take(",")
    guard take("]") else { throw fault("an array is not closed") }
    return .array(list)
  }

  private mutating func number() throws(JSONValue.Fault) -> JSONValue {
    let text = rest.prefix { "+-.eE0123456789".utf8.contains($0) }
    // `Double` accepts spellings that JSON does not allow, such as `inf`, `0x1` and `.5`. The set of bytes above and
    // the check of the first byte reject these spellings.
    guard let first = text.first, first == 0x2d || (0x30...0x39).contains(first),
      let number = Double(String(decoding: text, as: UTF8.self)), number.isFinite
    else { throw fault("a value is missing") }
    rest = rest[text.endIndex...]
    return .number(number)
  }

  /// Parses the rest of a string, from the first byte after the opening quote to the closing quote.
  private mutating func string() throws(JSONValue.Fault) -> String {
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case 0x22: return String(decoding: bytes, as: UTF8.self)
      case 0x5c: try escape(&bytes)
      case 0..<0x20: throw fault("a control character is not escaped")
      default: bytes.append(byte)
      }
    }
    throw fault("a string is not closed")
  }

  /// Parses the escape sequence after a backslash, and appends the escaped character to `bytes`.
  private mutating func escape(_ bytes: inout [UInt8]) throws(JSONValue.Fault) {
    guard let byte = rest.popFirst() else { throw fault("a string is not closed") }
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(byte)
    case UInt8(ascii: "b"): bytes.append(0x08)
    case UInt8(ascii: "f"): bytes.append(0x0c)
    case UInt8(ascii: "n"): bytes.append(0x0a)
    case UInt8(ascii: "r"): bytes.append(0x0d)
    case UInt8(ascii: "t"): bytes.append(0x09)
    case UInt8(ascii: "u"):
      var code = try unit()
      if (0xd800..<0xdc00).contains(code), rest.starts(with: [0x5c, 0x75]) {
        let before = rest
        rest = rest.dropFirst(2)
        let low = try unit()
        if (0xdc00..<0xe000).contains(low) {
          code = 0x1_0000 + (code - 0xd800) << 10 + (low - 0xdc00)
        } else {
          rest = before
        }
      }
      bytes += Array(String(Unicode.Scalar(code) ?? "\u{fffd}").utf8)
    default: throw fault("an escape sequence is unknown")
    }
  }

  /// Parses four hexadecimal digits.
  private mutating func unit() throws(JSONValue.Fault) -> UInt32 {
    let digits = rest.prefix(4)
    guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw fault("four hexadecimal digits are missing") }
    rest = rest.dropFirst(4)
    return code
  }
}
