import Zoetrope

/// The type of a value in the tool's JSON, written as JSON Schema.
indirect enum SchemaNode: Sendable {
  case string, integer, number, boolean, null
  /// One of these strings.
  case words([String])
  /// An array of values; `count` is the number of elements if it is fixed.
  case array(of: SchemaNode, count: Int? = nil)
  /// An object with these fields and no others.
  case object([SchemaField])
  /// An object with arbitrary field names.
  case map(SchemaNode)
  case either([SchemaNode])
  /// A definition that is used in several places.
  case reference(StaticString)

  /// This, or null.
  var orNull: SchemaNode { .either([self, .null]) }

  /// The start and the size of a range, or a rectangle, in numbers.
  static func integers(_ count: Int) -> SchemaNode { .array(of: .integer, count: count) }
}

/// A field of an object.
struct SchemaField: Sendable {
  let name: StaticString
  let node: SchemaNode
  /// What it means; nil where the name says it.
  let text: String?
  let isRequired: Bool

  /// A field that every object has.
  init(_ name: StaticString, _ node: SchemaNode, _ text: String? = nil) {
    (self.name, self.node, self.text, isRequired) = (name, node, text, true)
  }

  private init(_ name: StaticString, _ node: SchemaNode, _ text: String?, isRequired: Bool) {
    (self.name, self.node, self.text, self.isRequired) = (name, node, text, isRequired)
  }

  /// A field that some objects have.
  static func optional(
    _ name: StaticString, _ node: SchemaNode, _ text: String? = nil
  ) -> SchemaField {
    SchemaField(name, node, text, isRequired: false)
  }
}

extension SchemaNode {
  /// Writes it as fields of the current object.
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
        for field in fields {
          json.object(field.name) {
            field.node.write(to: &$0)
            if let text = field.text { $0.field("description", text) }
          }
        }
      }
      json.array("required") { json in
        for field in fields where field.isRequired { json.string("\(field.name)") }
      }
      json.field("additionalProperties", false)
    case .map(let node):
      json.field("type", "object")
      json.object("additionalProperties") { node.write(to: &$0) }
    case .either(let nodes):
      json.array("anyOf") { json in for node in nodes { json.object { node.write(to: &$0) } } }
    case .reference(let name): json.field("$ref", "#/$defs/\(name)")
    }
  }
}
