import ArgumentParser
import Zoetrope
import ZoetropeProcess

/// The command `zoetrope schema`.
struct SchemaCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Print the JSON Schema of the JSON that other commands print.",
    usage: "zoetrope schema [<name>]",
    discussion: """
      Without a name, the schemas are listed. In JSON output, the field "schema" contains the name \
      of its schema and a version. The version changes when a field is removed or changes meaning.

      In all JSON, frames, plays and bytes are numbered from 0. "stored" times are those in the \
      file, "shown" times follow --timing, and fields whose names end in _ms are in milliseconds.

      EXAMPLES:
        zoetrope schema
        zoetrope schema animation
      """)

  @Argument(
    help: "The name of a schema, or of a command.",
    completion: .list(OutputSchema.all.map(\.name)))
  var name: String?

  func execute() throws(CommandFailure) -> ExitStatus {
    guard let name else {
      let width = OutputSchema.all.map(\.name.count).max() ?? 0
      let lines = OutputSchema.all.map { "\($0.name.paddedRight(to: width))  \($0.summary)\n" }
      try OutputStream.print(Array(lines.joined().utf8))
      return .success
    }
    guard let schema = OutputSchema.named(name) else {
      let meant = NameSuggestion.closest(to: name, in: OutputSchema.all.map(\.name))
      throw .usage(
        "there is no schema \(name)" + (meant.map { " (did you mean \($0)?)" } ?? "")
          + "; zoetrope schema lists the schemas")
    }
    try OutputStream.print(CommandRunner.line { schema.write(to: &$0) })
    return .success
  }
}

extension OutputSchema {
  /// Returns the schema called `name`. If there is none and `name` is a command, returns the first schema whose summary
  /// mentions that command.
  static func named(_ name: String) -> OutputSchema? {
    all.first { $0.name == name }
      ?? (ZoetropeCommand.subcommand(named: name) == nil
        ? nil : all.first { $0.summary.split { !$0.isLetter }.contains { $0 == name } })
  }
}
