/// A writer that produces JSON directly as bytes, without building a tree in memory. Fields appear in the order of the
/// calls.
///
/// Nesting uses closures, so brackets and commas are correct by construction.
package struct JSONWriter {
  package private(set) var bytes: [UInt8] = []
  private var needsComma = false

  package init() {}

  /// Writes an object as the whole JSON value or as an element of an array. `body` writes the fields of the object.
  package mutating func object(_ body: (inout JSONWriter) -> Void) { nest(0x7b, 0x7d, body) }

  /// Writes the field `key` with an object as its value.
  package mutating func object(_ key: StaticString, _ body: (inout JSONWriter) -> Void) {
    self.key(key)
    nest(0x7b, 0x7d, body)
  }

  /// Writes the field `name`, which may need escaping, with an object as its value.
  package mutating func object(named name: String, _ body: (inout JSONWriter) -> Void) {
    string(name)
    bytes.append(0x3a)
    needsComma = false
    nest(0x7b, 0x7d, body)
  }

  /// Writes the field `key` with an array as its value. `body` writes the elements of the array.
  package mutating func array(_ key: StaticString, _ body: (inout JSONWriter) -> Void) {
    self.key(key)
    nest(0x5b, 0x5d, body)
  }

  package mutating func field(_ key: StaticString, _ value: String?) {
    self.key(key)
    if let value { string(value) } else { null() }
  }

  package mutating func field(_ key: StaticString, _ value: Int?) {
    self.key(key)
    if let value { number(value) } else { null() }
  }

  package mutating func field(_ key: StaticString, _ value: Bool) {
    self.key(key)
    element(value ? "true" : "false")
  }

  /// Writes the field `key` with a number that is already formatted as JSON, or with null if `numberText` is nil.
  package mutating func field(_ key: StaticString, numberText: String?) {
    self.key(key)
    if let numberText { element(numberText) } else { null() }
  }

  /// Writes the field `key` with an array of numbers as its value, or with null if `values` is nil.
  package mutating func field(_ key: StaticString, _ values: [Int]?) {
    guard let values else { return field(key, numberText: nil) }
    array(key) { json in for value in values { json.number(value) } }
  }

  package mutating func number(_ value: Int) { element(String(value)) }

  /// Writes a string. Escapes all control characters, including DEL and C1, so that the text is
  /// also safe to print on a terminal.
  package mutating func string(_ value: String) {
    separate()
    bytes.append(0x22)
    defer {
      bytes.append(0x22)
      needsComma = true
    }
    // Nearly all text needs no escaping and is appended in one piece.
    if value.utf8.allSatisfy({ (0x20..<0x7f).contains($0) && $0 != 0x22 && $0 != 0x5c }) {
      bytes.append(contentsOf: value.utf8)
      return
    }
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": bytes += [0x5c, 0x22]
      case "\\": bytes += [0x5c, 0x5c]
      case "\n": bytes += [0x5c, 0x6e]
      case "\r": bytes += [0x5c, 0x72]
      case "\t": bytes += [0x5c, 0x74]
      default:
        if scalar.isUnsafeToPrint, scalar.value <= 0xffff {
          let digits = String(scalar.value, radix: 16).paddedLeft(to: 4, with: "0")
          bytes += Array("\\u\(digits)".utf8)
        } else {
          bytes += Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        }
      }
    }
  }

  private mutating func null() { element("null") }

  /// Writes a key. Keys are literals that need no escaping.
  private mutating func key(_ key: StaticString) {
    separate()
    bytes.append(0x22)
    bytes.append(copying: key)
    bytes.append(0x22)
    bytes.append(0x3a)
  }

  private mutating func element(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
    needsComma = true
  }

  private mutating func nest(_ open: UInt8, _ close: UInt8, _ body: (inout JSONWriter) -> Void) {
    separate()
    bytes.append(open)
    needsComma = false
    body(&self)
    bytes.append(close)
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { bytes.append(0x2c) }
    needsComma = false
  }
}
