import Zoetrope

/// The type of a value in the tool's JSON, written as JSON Schema.
indirect enum SchemaNode: Sendable {
  case string, integer, number, boolean, null
  /// A string that is one of these words.
  case words([String])
  /// An array of values; `count` is the number of elements if it is fixed.
  case array(of: SchemaNode, count: Int? = nil)
  /// An object with these fields and no others.
  case object([SchemaField])
  /// An object with arbitrary field names.
  case map(SchemaNode)
  case either([SchemaNode])
  /// A reference to a definition that is used in several places.
  case reference(StaticString)

  /// The type of a value that is either of this type or null.
  var orNull: SchemaNode { .either([self, .null]) }

  /// Returns the type of an array of `count` integers, such as a rectangle or a range.
  static func integers(_ count: Int) -> SchemaNode { .array(of: .integer, count: count) }
}

/// A field of an object.
struct SchemaField: Sendable {
  let name: StaticString
  let node: SchemaNode
  /// The meaning of the field, or nil if the name is self-explanatory.
  let text: String?
  let isRequired: Bool

  /// Creates a field that every object has.
  init(_ name: StaticString, _ node: SchemaNode, _ text: String? = nil) {
    (self.name, self.node, self.text, isRequired) = (name, node, text, true)
  }

  private init(_ name: StaticString, _ node: SchemaNode, _ text: String?, isRequired: Bool) {
    (self.name, self.node, self.text, self.isRequired) = (name, node, text, isRequired)
  }

  /// Returns a field that only some objects have.
  static func optional(
    _ name: StaticString, _ node: SchemaNode, _ text: String? = nil
  ) -> SchemaField {
    SchemaField(name, node, text, isRequired: false)
  }
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
