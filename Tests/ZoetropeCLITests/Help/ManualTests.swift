import Foundation
import Testing

@testable import ZoetropeCLI

/// The manual pages in `Manual/`, which `make install-tool` copies.
@Suite(.timeLimit(.minutes(10))) struct ManualTests {
  private static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Manual")

  private static let pages: [String: String] = {
    let manuals = (CommandFacts.tool?.all ?? []).map { CommandManual($0) }
    return Dictionary(uniqueKeysWithValues: manuals.map { ("\($0.name).1", $0.text) })
  }()

  /// `make manual` sets the variable, and writes the pages before they are compared.
  @Test func `the manual has a page for each command, up to date with its help`() throws {
    let files = FileManager.default
    if ProcessInfo.processInfo.environment["ZOETROPE_WRITE_MANUAL"] != nil {
      try? files.removeItem(at: Self.directory)
      try files.createDirectory(at: Self.directory, withIntermediateDirectories: true)
      for (name, text) in Self.pages {
        try Data(text.utf8).write(to: Self.directory.appending(path: name))
      }
    }
    let names = try files.contentsOfDirectory(atPath: Self.directory.path)
    #expect(names.sorted() == Self.pages.keys.sorted())
    for (name, text) in Self.pages {
      let file = Self.directory.appending(path: name)
      #expect(try String(contentsOf: file, encoding: .utf8) == text, "\(name): make manual")
    }
  }

  @Test func `no line of the manual is a macro by accident`() {
    let macros: Set<Substring> = [
      ".TH", ".SH", ".SS", ".PP", ".TP", ".RS", ".RE", ".EX", ".EE", ".\\\"",
    ]
    #expect(!Self.pages.isEmpty)
    for (name, text) in Self.pages {
      for line in text.split(separator: "\n") where line.hasPrefix(".") || line.hasPrefix("'") {
        #expect(macros.contains(line.prefix { $0 != " " }), "\(name): \(line)")
      }
    }
  }
}
