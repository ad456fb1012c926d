/// Writes JSON text straight into bytes: no tree in memory, fields in the order they are given.
///
/// Nesting is by closures, so every bracket is closed and every comma is right by construction.
struct JSONWriter {
  private(set) var bytes: [UInt8] = []
  private var needsComma = false

  /// Writes an object whose fields `body` writes, as a value or as an element.
  mutating func object(_ body: (inout JSONWriter) -> Void) { nest(0x7b, 0x7d, body) }

  /// Writes the field `key` with an object.
  mutating func object(_ key: StaticString, _ body: (inout JSONWriter) -> Void) {
    self.key(key)
    nest(0x7b, 0x7d, body)
  }

  /// Writes an array whose elements `body` writes, as a value or as an element.
  mutating func array(_ body: (inout JSONWriter) -> Void) { nest(0x5b, 0x5d, body) }

  /// Writes the field `key` with an array.
  mutating func array(_ key: StaticString, _ body: (inout JSONWriter) -> Void) {
    self.key(key)
    nest(0x5b, 0x5d, body)
  }

  mutating func field(_ key: StaticString, _ value: String?) {
    self.key(key)
    if let value { string(value) } else { null() }
  }

  mutating func field(_ key: StaticString, _ value: Int?) {
    self.key(key)
    if let value { number(value) } else { null() }
  }

  mutating func field(_ key: StaticString, _ value: Bool) {
    self.key(key)
    element(Array((value ? "true" : "false").utf8))
  }

  mutating func field(_ key: StaticString, _ value: Decimal?) {
    field(key, numberText: value?.description)
  }

  /// Writes a number that is already spelt as JSON wants it.
  mutating func field(_ key: StaticString, numberText: String?) {
    self.key(key)
    if let numberText { element(Array(numberText.utf8)) } else { null() }
  }

  /// Writes the field `key` with an array of numbers.
  mutating func field(_ key: StaticString, _ values: [Int]) {
    array(key) { json in for value in values { json.number(value) } }
  }

  mutating func number(_ value: Int) { element(Array(String(value).utf8)) }

  /// Writes a string. Control characters, DEL and C1 are escaped, so that the text is harmless on a
  /// terminal too.
  mutating func string(_ value: String) {
    separate()
    bytes.append(0x22)
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
    bytes.append(0x22)
    needsComma = true
  }

  private mutating func null() { element(Array("null".utf8)) }

  private mutating func key(_ key: StaticString) {
    string(key.description)
    bytes.append(0x3a)
    needsComma = false
  }

  private mutating func element(_ text: [UInt8]) {
    separate()
    bytes += text
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
