/// A title in the help and the manual page of a command, and the options that stand under it.
struct OptionTitle: Hashable, Sendable {
  let title: String
  /// Long names without dashes, in order.
  let options: [String]

  init(_ title: String, _ options: String...) {
    self.title = title
    self.options = options
  }
}

/// The help that the parser writes, put in order.
///
/// The parser has titles of its own, for groups of options that are types. In a debug build it
/// validates the options of such a group five times as often as those of a command, at every start
/// of the tool, so that the tests would take twice their time for headings that few of them print.
enum HelpText {
  /// `text` with its options under titles and its examples at the end.
  ///
  /// - Parameters:
  ///   - text: What the parser prints for `--help`.
  ///   - titles: Where the options go; others stay under OPTIONS, behind the titles.
  static func arranged(_ text: String, under titles: [OptionTitle]) -> String {
    var sections = text.split(separator: "\n\n", omittingEmptySubsequences: false).map(String.init)
    if let place = sections.firstIndex(where: { $0.hasPrefix(optionsHeading) }) {
      sections.replaceSubrange(place...place, with: grouped(sections[place], under: titles))
    }
    if let place = sections.firstIndex(where: { $0.hasPrefix("EXAMPLES:\n") }) {
      let examples = sections.remove(at: place)
      // The parser's text ends with a line break, or with a line of its own.
      if sections.last?.hasSuffix("\n") == true { sections[sections.count - 1].removeLast() }
      sections.append(examples)
    }
    return sections.joined(separator: "\n\n")
  }

  /// The command whose help `text` is, without the name of the tool: `["cache", "warm"]`. Nil if it
  /// is no help.
  static func command(of text: String) -> [Substring]? {
    guard text.hasPrefix("OVERVIEW: "),
      let usage = text.split(separator: "\n").first(where: { $0.hasPrefix("USAGE: ") })
    else { return nil }
    return usage.split(separator: " ").dropFirst(2).prefix { $0.allSatisfy(\.isLetter) }
  }

  private static let optionsHeading = "OPTIONS:\n"

  private static func grouped(_ section: String, under titles: [OptionTitle]) -> [String] {
    var names: [Substring] = []
    var texts: [Substring: [Substring]] = [:]
    for line in section.dropFirst(optionsHeading.count).split(separator: "\n") {
      if line.hasPrefix("  -") { names.append(longName(in: line)) }
      if let name = names.last { texts[name, default: []].append(line) }
    }
    var sections: [String] = []
    for title in titles {
      let lines = title.options.flatMap { texts.removeValue(forKey: $0[...]) ?? [] }
      guard !lines.isEmpty else { continue }
      sections.append("\(title.title.uppercased()):\n" + lines.joined(separator: "\n"))
    }
    let rest = names.flatMap { texts[$0] ?? [] }
    if !rest.isEmpty { sections.append(optionsHeading + rest.joined(separator: "\n")) }
    if section.hasSuffix("\n") { sections[sections.count - 1] += "\n" }
    return sections
  }

  /// The name in a line such as `  -o, --output <output>   A directory`.
  private static func longName(in line: Substring) -> Substring {
    let words = line.split { $0 == " " || $0 == "," }
    return words.first { $0.hasPrefix("--") }?.dropFirst(2) ?? words.first ?? ""
  }
}
