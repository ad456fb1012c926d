import Foundation
import Testing

/// A value in the JSON that the tool prints. An absent value is `missing`, and so is everything in it.
struct JSONLine: Equatable, Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral
{
  indirect enum Value: Equatable, Sendable {
    case missing, null
    case boolean(Bool)
    case number(Double)
    case string(String)
    case array([JSONLine])
    case object([String: JSONLine])
  }

  let value: Value

  init(_ value: Value) { self.value = value }
  init(stringLiteral text: String) { value = .string(text) }
  init(integerLiteral number: Int) { value = .number(Double(number)) }
  init(booleanLiteral truth: Bool) { value = .boolean(truth) }

  /// Reads text of one value on each line, each as its schema says.
  static func all(_ bytes: [UInt8]) throws -> [JSONLine] {
    let lines = try parsed(bytes)
    SchemaValidator.check(lines)
    return lines
  }

  /// Reads text of one value on each line.
  static func parsed(_ bytes: [UInt8]) throws -> [JSONLine] {
    try #require(bytes.last == 0x0a)
    return try bytes.dropLast().split(separator: 0x0a, omittingEmptySubsequences: false).map {
      JSONLine(
        foundation: try JSONSerialization.jsonObject(with: Data($0), options: .fragmentsAllowed))
    }
  }

  /// Reads text of one line.
  static func one(_ bytes: [UInt8]) throws -> JSONLine {
    let lines = try all(bytes)
    try #require(lines.count == 1)
    return lines[0]
  }

  private init(foundation: Any) {
    switch foundation {
    case let text as String: value = .string(text)
    case let list as [Any]: value = .array(list.map(JSONLine.init(foundation:)))
    case let members as [String: Any]:
      value = .object(members.mapValues(JSONLine.init(foundation:)))
    case let number as NSNumber:
      // Foundation keeps truth values as numbers of their own type.
      value =
        unsafe String(cString: number.objCType) == "c"
        ? .boolean(number.boolValue) : .number(number.doubleValue)
    default: value = .null
    }
  }

  static let null = JSONLine(.null)
  static let missing = JSONLine(.missing)

  subscript(key: String) -> JSONLine {
    if case .object(let members) = value { members[key] ?? .missing } else { .missing }
  }

  subscript(index: Int) -> JSONLine {
    elements.indices.contains(index) ? elements[index] : .missing
  }

  var elements: [JSONLine] { if case .array(let list) = value { list } else { [] } }
  var count: Int { elements.count }
  var text: String? { if case .string(let text) = value { text } else { nil } }
  var real: Double? { if case .number(let number) = value { number } else { nil } }
  var integer: Int? { if case .number(let number) = value { Int(exactly: number) } else { nil } }
}
