import ArgumentParser
import Foundation
import ZoetropePlayer

@testable import ZoetropeCLI

/// What the parser says of a command with `--experimental-dump-help`.
struct CommandFacts: Decodable {
  let commandName: String
  let abstract: String?
  let discussion: String?
  let subcommands: [CommandFacts]?
  let arguments: [ArgumentFacts]?
  let superCommands: [String]?

  /// The words that name the command, with the tool's.
  var words: [String] { (superCommands ?? []) + [commandName] }

  /// The commands below it, without the parser's `help`.
  var commands: [CommandFacts] { (subcommands ?? []).filter { $0.commandName != "help" } }

  /// This command and all below it.
  var all: [CommandFacts] { [self] + commands.flatMap(\.all) }

  /// The options that people see.
  var options: [ArgumentFacts] {
    (arguments ?? []).filter { $0.shouldDisplay && $0.kind != "positional" }
  }

  /// The whole tool.
  static let tool: CommandFacts? = {
    struct Dump: Decodable { let command: CommandFacts }
    let json = Data(ZoetropeCommand._dumpHelp().utf8)
    return try? JSONDecoder().decode(Dump.self, from: json).command
  }()
}

/// An option or argument of a command.
struct ArgumentFacts: Decodable {
  struct Name: Decodable {
    let kind: String
    let name: String

    var dashed: String { (kind == "long" ? "--" : "-") + name }
  }

  /// `positional`, `option` or `flag`.
  let kind: String
  let names: [Name]?
  let abstract: String?
  let valueName: String?
  /// The title that it stands under; nil for none.
  let sectionTitle: String?
  let defaultValue: String?
  let allValues: [String]?
  let allValueDescriptions: [String: String]?
  let isOptional: Bool
  let isRepeating: Bool
  let shouldDisplay: Bool

  /// The name without dashes.
  var longName: String { names?.first { $0.kind == "long" }?.name ?? "" }
}

/// The manual page of a command, in the macros of man(7).
struct CommandManual {
  let command: CommandFacts

  init(_ command: CommandFacts) { self.command = command }

  /// The name of the page, such as `zoetrope-cache-warm`.
  var name: String { command.words.joined(separator: "-") }

  var text: String {
    var lines = [
      ".\\\" Written by `make manual` from the help of the commands.",
      ".TH \(name.uppercased()) 1 \"\" \"zoetrope \(VersionText.number)\" \"User Commands\"",
      ".SH NAME", "\(Self.plain(name)) \\- \(Self.plain(summary))",
      ".SH SYNOPSIS", synopsis,
      ".SH DESCRIPTION",
    ]
    for (index, paragraph) in paragraphs.enumerated() {
      if index > 0 { lines.append(".PP") }
      lines.append(Self.plain(paragraph))
    }
    if !command.commands.isEmpty { lines.append(".SH COMMANDS") }
    for command in command.commands {
      let page = command.words.joined(separator: "-")
      lines += [".TP", "\\fB\(Self.plain(page))\\fR(1)", Self.plain(command.abstract ?? "")]
    }
    let arguments = (command.arguments ?? []).filter { $0.kind == "positional" }
    if !arguments.isEmpty { lines.append(".SH ARGUMENTS") }
    for argument in arguments { lines += Self.entry(argument) }
    lines.append(".SH OPTIONS")
    lines += options
    if command.commandName == "play" { lines += Self.keys + Self.configuration }
    lines += Self.surroundings(of: command)
    if !examples.isEmpty {
      lines += [".SH EXAMPLES", ".EX"] + examples.map(Self.plain) + [".EE"]
    }
    lines += [".SH SEE ALSO", seeAlso]
    return lines.joined(separator: "\n") + "\n"
  }

  /// The abstract as the NAME of a page has it: no capital, no full stop.
  private var summary: String {
    var text = command.abstract ?? ""
    if text.hasSuffix(".") { text.removeLast() }
    return text.prefix(1).lowercased() + text.dropFirst()
  }

  private var synopsis: String {
    var parts = ["\\fB\(Self.plain(command.words.joined(separator: " ")))\\fR"]
    if !command.commands.isEmpty { parts.append("\\fIcommand\\fR") }
    if !command.options.isEmpty, command.commands.isEmpty { parts.append("[\\fIoptions\\fR]") }
    for argument in command.arguments ?? []
    where !argument.isOptional || argument.isRepeating && argument.kind == "positional" {
      let value = "\\fI\(Self.plain(argument.valueName ?? ""))\\fR"
      if argument.kind == "positional" {
        parts.append(argument.isRepeating ? value + " ..." : value)
      } else {
        parts.append("\\fB\\-\\-\(Self.plain(argument.longName))\\fR \(value)")
      }
    }
    return parts.joined(separator: " ")
  }

  /// The paragraphs of the discussion before the examples.
  private var paragraphs: [String] {
    let parts = (command.discussion ?? "").components(separatedBy: "\n\n")
      .filter { !$0.isEmpty && !$0.hasPrefix("EXAMPLES:") }
    return parts.isEmpty ? [command.abstract ?? ""] : parts
  }

  /// The command lines under EXAMPLES.
  var examples: [String] {
    let parts = (command.discussion ?? "").components(separatedBy: "EXAMPLES:\n")
    guard parts.count == 2 else { return [] }
    return parts[1].split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
  }

  /// The titles of its options, in the order of help.
  var titles: [String] {
    command.options.compactMap(\.sectionTitle).reduce(into: []) { titles, title in
      if !titles.contains(title) { titles.append(title) }
    }
  }

  private var options: [String] {
    var lines: [String] = []
    for title in titles {
      let options = command.options.filter { $0.sectionTitle == title }
      lines += [".SS \(title)"] + options.flatMap(Self.entry)
    }
    if !titles.isEmpty { lines.append(".SS Other") }
    return lines + command.options.filter { $0.sectionTitle == nil }.flatMap(Self.entry)
  }

  private var seeAlso: String {
    let parent = command.words.dropLast().joined(separator: "-")
    let siblings = command.commands.map { $0.words.joined(separator: "-") }
    let pages = (parent.isEmpty ? [] : [parent]) + siblings
    return pages.map { "\\fB\(Self.plain($0))\\fR(1)" }.joined(separator: ", ")
  }

  private static func entry(_ argument: ArgumentFacts) -> [String] {
    var label = (argument.names ?? []).map { "\\fB\(plain($0.dashed))\\fR" }
      .joined(separator: ", ")
    if argument.kind != "flag" {
      let value = "\\fI\(plain(argument.valueName ?? ""))\\fR"
      label += (label.isEmpty ? "" : " ") + value
      if argument.isRepeating { label += " ..." }
    }
    var text = plain(argument.abstract ?? "")
    if let value = argument.defaultValue, !value.isEmpty { text += " (default: \(plain(value)))" }
    var lines = [".TP", label, text]
    let values = (argument.allValues ?? []).filter { argument.allValueDescriptions?[$0] != nil }
    if !values.isEmpty {
      lines.append(".RS")
      for value in values {
        lines += [
          ".TP 14", "\\fB\(plain(value))\\fR", plain(argument.allValueDescriptions?[value] ?? ""),
        ]
      }
      lines.append(".RE")
    }
    return lines
  }

  /// The keys of the player, as its help shows them.
  private static var keys: [String] {
    var lines = [
      ".SH KEYS",
      "Frame numbers that you type while playing start at 1, as on the screen. In options, JSON and file "
        + "names they start at 0.",
    ]
    for section in HelpPage.sections {
      lines.append(".SS \(plain(section.title))")
      for (keys, text) in section.entries {
        lines += [".TP 18", "\\fB\(plain(keys))\\fR", plain(text)]
      }
    }
    return lines
  }

  /// The file with default options.
  private static let configuration = [
    ".SH CONFIGURATION",
    "The configuration file contains default options of \\fBplay\\fR, one per line, without dashes. Empty lines and lines",
    "that begin with # are skipped. The command line overrides the file.",
    ".PP", ".EX", "# sharp pixels on a checkerboard", "protocol=sixel", "bg=checker", "no\\-mouse",
    ".EE",
  ]

  /// The environment and the files that a command uses.
  private static func surroundings(of command: CommandFacts) -> [String] {
    let isRoot = command.superCommands == nil
    let options = Set(command.options.map(\.longName))
    let plays = isRoot || command.commandName == "play"
    let draws = plays || options.contains("protocol")
    let caches = isRoot || options.contains("cache")
    var environment: [String] = []
    var files: [String] = []
    if draws {
      environment += [
        ".TP", "\\fBNO_COLOR\\fR", "If this is set, pictures are drawn without colours.",
        ".TP", "\\fBTERM\\fR, \\fBCOLORTERM\\fR, \\fBLC_ALL\\fR, \\fBLC_CTYPE\\fR, \\fBLANG\\fR",
        "These tell what the terminal can display; its own answers take precedence.",
      ]
    }
    if plays {
      environment += [
        ".TP", "\\fBNO_MOTION\\fR, \\fBZOETROPE_REDUCED_MOTION\\fR",
        "\\fBplay\\fR shows one frame if either has a value other than 0.",
        ".TP", "\\fBZOETROPE_CONFIG\\fR",
        "The path of the configuration file of \\fBplay\\fR. If this is set but empty, no file is read.",
        ".TP", "\\fBXDG_CONFIG_HOME\\fR",
        "The directory that contains \\fIzoetrope/config\\fR, instead of \\fI\\(ti/.config\\fR.",
      ]
      files += [
        ".TP", "\\fI\\(ti/.config/zoetrope/config\\fR", "The default options of \\fBplay\\fR.",
      ]
    }
    if caches {
      environment += [
        ".TP", "\\fBXDG_CACHE_HOME\\fR",
        "The directory that contains \\fIzoetrope/frames\\fR, instead of \\fI\\(ti/.cache\\fR.",
      ]
      files += [
        ".TP", "\\fI\\(ti/.cache/zoetrope/frames\\fR",
        "The cache that \\fB\\-\\-cache default\\fR uses.",
      ]
    }
    return (environment.isEmpty ? [] : [".SH ENVIRONMENT"] + environment)
      + (files.isEmpty ? [] : [".SH FILES"] + files)
  }

  /// `text` without anything that roff would interpret.
  private static func plain(_ text: String) -> String {
    var plain = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
      .replacing("'", with: "\\(aq").replacing("`", with: "\\(ga").replacing("^", with: "\\(ha")
      .replacing("~", with: "\\(ti")
    if plain.hasPrefix(".") { plain = "\\&" + plain }
    return plain
  }
}
