import Zoetrope

/// The type of a value in the tool's JSON, written as JSON Schema.
indirect enum SchemaNode: Sendable {
  case string, integer, number, boolean, null
  /// A string that is one of these words.
  case words([String])
  /// An array of values; `count` is the number of elements if it is fixed.
  case array(of: SchemaNode, count: Int? = nil)
  /// An object with these fields and no others.
  case object(SchemaFields)
  /// An object with arbitrary field names.
  case map(SchemaNode)
  case either([SchemaNode])
  /// A reference to a definition that is used in several places.
  case reference(StaticString)
  /// In the fields of an object: a value that only some objects have.
  case optional(SchemaNode)
  /// A value with its meaning, for a field whose name does not say it.
  case described(SchemaNode, String)

  /// The type of a value that is either of this type or null.
  var orNull: SchemaNode { .either([self, .null]) }

  /// Returns this type with the meaning of the value.
  func about(_ text: String) -> SchemaNode { .described(self, text) }

  /// Returns the type of an object with all fields of `parts`, in order.
  static func fields(_ parts: SchemaFields...) -> SchemaNode { .object(SchemaFields(parts)) }

  /// Returns the type of an array of `count` integers, such as a rectangle or a range.
  static func integers(_ count: Int) -> SchemaNode { .array(of: .integer, count: count) }
}

/// The fields of an object, in order, written as a dictionary literal.
struct SchemaFields: ExpressibleByDictionaryLiteral, Sendable {
  let list: [(name: StaticString, node: SchemaNode)]

  init(dictionaryLiteral elements: (StaticString, SchemaNode)...) {
    list = elements.map { (name: $0.0, node: $0.1) }
  }

  init(_ parts: [SchemaFields]) { list = parts.flatMap(\.list) }
}

extension SchemaNode {
  /// Writes the type as fields of the current JSON object.
  func write(to json: inout JSONWriter) {
    switch self {
    case .string: json.field("type", "string")
    case .integer: json.field("type", "integer")
    case .number: json.field("type", "number")
    case .boolean: json.field("type", "boolean")
    case .null: json.field("type", "null")
    case .words(let words): json.array("enum") { json in words.forEach { json.string($0) } }
    case .array(let element, let count):
      json.field("type", "array")
      json.object("items") { element.write(to: &$0) }
      if let count {
        json.field("minItems", count)
        json.field("maxItems", count)
      }
    case .object(let fields):
      json.field("type", "object")
      json.object("properties") { json in
        for (name, node) in fields.list { json.object(name) { node.write(to: &$0) } }
      }
      json.array("required") { json in
        for (name, node) in fields.list where !node.isOptional { json.string("\(name)") }
      }
      json.field("additionalProperties", false)
    case .map(let node):
      json.field("type", "object")
      json.object("additionalProperties") { node.write(to: &$0) }
    case .either(let nodes):
      json.array("anyOf") { json in for node in nodes { json.object { node.write(to: &$0) } } }
    case .reference(let name): json.field("$ref", "#/$defs/\(name)")
    case .optional(let node): node.write(to: &json)
    case .described(let node, let text):
      node.write(to: &json)
      json.field("description", text)
    }
  }

  private var isOptional: Bool { if case .optional = self { true } else { false } }
}
