import Testing
import Zoetrope

@testable import ZoetropeCLI

/// Validates JSON against the schemas of `zoetrope schema`: the part of JSON Schema that they use.
struct SchemaValidator {
  private let root: JSONLine

  /// Each schema by its name.
  static let all: [String: SchemaValidator] = OutputSchema.all.reduce(into: [:]) {
    $0[$1.name] = try? SchemaValidator($1)
  }

  init(_ schema: OutputSchema) throws {
    root = try JSONLine.parsed(CommandRunner.line { schema.write(to: &$0) })[0]
  }

  /// The first problem of `line`; nil if it is valid.
  func problem(with line: JSONLine) -> String? { problem(line, root, "$") }

  /// The schema of `line`: what its field "schema" names, or that of lines on standard error. Nil for JSON of no
  /// known kind.
  static func schema(of line: JSONLine) -> OutputSchema? {
    if let identifier = line["schema"].text {
      return OutputSchema.all.first { $0.identifier == identifier }
    }
    let isReport = ["phase", "error", "damage", "warning"].contains { line[$0] != .missing }
    let name = isReport ? "progress" : line["meta"]["app"] == "zoetrope" ? "atlas" : ""
    return OutputSchema.all.first { $0.name == name }
  }

  /// Records an issue if a line that has a schema does not follow it.
  static func check(_ lines: [JSONLine]) {
    for line in lines {
      guard let schema = schema(of: line) else {
        if let name = line["schema"].text { Issue.record("no schema is called \(name)") }
        continue
      }
      guard let validator = all[schema.name] else {
        Issue.record("the schema \(schema.name) is no JSON")
        continue
      }
      if let problem = validator.problem(with: line) {
        Issue.record("not as schema \(schema.name) says: \(problem)")
      }
    }
  }

  private func problem(_ value: JSONLine, _ schema: JSONLine, _ place: String) -> String? {
    if let name = schema["$ref"].text?.split(separator: "/").last {
      return problem(value, root["$defs"][String(name)], place)
    }
    if schema["anyOf"] != .missing {
      let problems = schema["anyOf"].elements.map { problem(value, $0, place) }
      return problems.contains(nil) ? nil : problems.compactMap(\.self).joined(separator: " or ")
    }
    if schema["enum"] != .missing {
      return schema["enum"].elements.contains(value) ? nil : "\(place) is none of the words"
    }
    let type = schema["type"].text ?? "?"
    switch (type, value.value) {
    case ("string", .string), ("number", .number), ("boolean", .boolean), ("null", .null):
      return nil
    case ("integer", .number): return value.integer == nil ? "\(place) is no integer" : nil
    case ("array", .array(let elements)):
      if let count = schema["minItems"].integer, elements.count != count {
        return "\(place) has \(elements.count) elements"
      }
      for (index, element) in elements.enumerated() {
        if let found = problem(element, schema["items"], "\(place)[\(index)]") { return found }
      }
      return nil
    case ("object", .object(let members)):
      for name in schema["required"].elements.compactMap(\.text) where members[name] == nil {
        return "\(place) lacks \(name)"
      }
      for (name, member) in members {
        let known = schema["properties"][name]
        let node = known == .missing ? schema["additionalProperties"] : known
        if node == false || node == .missing { return "\(place).\(name) is unknown" }
        if let found = problem(member, node, "\(place).\(name)") { return found }
      }
      return nil
    default: return "\(place) is not of type \(type)"
    }
  }
}
