import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCLI

/// `zoetrope schema`, and the validator with which every JSON line of the other tests is checked.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct SchemaTests {
  @Test(arguments: [
    "info=animation", "extract=animation", "convert=conversion", "make=conversion",
    "optimize=optimization", "sheet=atlas", "play=trace", "check=check", "cache=cache",
  ])
  func `the name of a command selects its schema`(_ pair: String) {
    let names = pair.split(separator: "=").map(String.init)
    #expect(OutputSchema.named(names[0])?.name == names[1])
    // Words of a summary are not names.
    #expect(OutputSchema.named("What") == nil)
    #expect(OutputSchema.named("frames") == nil)
  }

  @Test func `there is a schema for every JSON that the help names`() throws {
    let identifiers = Set(OutputSchema.all.compactMap(\.identifier))
    let help = try #require(CommandFacts.tool).all.compactMap(\.discussion).joined()
    let named = help.matches(of: /zoetrope\.[a-z]+\/\d+/).map { String($0.output) }
    #expect(!named.isEmpty)
    #expect(Set(named).isSubset(of: identifiers))
    #expect(SchemaValidator.all.count == OutputSchema.all.count)
    #expect(Set(OutputSchema.all.map(\.name)).count == OutputSchema.all.count)
  }

  @Test func `schemas are listed and printed`() throws {
    try withTool { (tool: Tool) throws in
      let list = try tool.run("schema").text.split(separator: "\n")
      #expect(list.map { $0.prefix { $0 != " " } } == OutputSchema.all.map { $0.name[...] })
      #expect(list.allSatisfy { $0.count <= 80 })
      for schema in OutputSchema.all {
        let printed = try JSONLine.parsed(try tool.run("schema", schema.name).output)
        #expect(printed.count == 1 && printed[0]["title"].text == "zoetrope \(schema.name)")
      }
      #expect(try tool.run("schema", "none").status == 2)
    }
  }

  @Test func `what the commands print follows the schemas`() throws {
    try withTool { (tool: Tool) throws in
      var kinds: Set<String> = []
      func check(_ bytes: [UInt8]) throws {
        for line in try JSONLine.all(bytes) {
          kinds.insert(SchemaValidator.schema(of: line)?.name ?? "none")
        }
      }
      try tool.write(Array("text".utf8), to: "text.gif")
      try check(
        tool.run(
          "info", "cat.gif", "text.gif", "--json", "--hashes", "--metadata", "--timing", "all"
        ).output)
      try check(tool.run("info", "cat.gif", "--json", "--follow").output)
      try check(tool.run("check", "cat.gif", "text.gif", "--json").output)
      try check(tool.run("explain", "cat.gif", "text.gif", "--json").output)
      try check(tool.run("cache", "warm", "cat.gif", "text.gif", "--json", "--cache", "c").output)
      for command in ["stat", "verify", "prune", "clear"] {
        try check(tool.run("cache", command, "--json", "--cache", "c").output)
      }
      try check(tool.run("sheet", "cat.gif", "-o", "s.png", "--atlas", "-").output)
      try check(
        tool.run("sheet", "cat.gif", "-o", "t.png", "--atlas", "-", "--atlas-shape", "array")
          .output)
      try check(
        tool.run("convert", "cat.gif", "text.gif", "-o", "v/{stem}.png", "--json").output)
      try check(tool.run("optimize", "cat.gif", "text.gif", "-o", "u/", "--json").output)
      try tool.write(DeltaGIF.make(width: 150, height: 150, frameCount: 60, patch: 90), to: "d.gif")
      let emoji = try tool.run(
        "convert", "d.gif", "-o", "e.gif", "--for", "slack-emoji", "--json", "--progress", "json")
      try check(emoji.output)
      try check(Array(emoji.errors.utf8))
      try check(tool.run("convert", "cat.gif", "-o", "w.gif", "--plan", "--json").output)
      try check(tool.run("probe", "--json").output)
      let trace = try tool.run("play", "cat.gif", "--protocol", "none", "--trace", "-").text
      try check(Array((trace.filter { $0 != "\n" } + "\n").utf8))
      let extracted = try tool.run(
        "extract", "cat.gif", "text.gif", "-o", "o/", "--manifest", "-", "--unique", "--progress",
        "json")
      try check(extracted.output)
      try check(Array(extracted.errors.utf8))
      #expect(kinds == Set(OutputSchema.all.map(\.name)))
    }
  }

  @Test(arguments: [
    (#"{"schema":"zoetrope.check/3","file":"a"}"#, "lacks"),
    (#"{"phase":"done","done":1.5,"total":null,"bytes":null}"#, "no integer"),
    (#"{"phase":"done","done":1,"total":null,"bytes":null,"more":1}"#, "unknown"),
    (#"{"phase":"dome","done":1,"total":null,"bytes":null}"#, "none of the words"),
    (#"{"error":{"code":"a","message":1,"byte_offset":null,"frame":null,"file":"a"}}"#, "type"),
  ])
  func `the validator finds what is wrong`(text: String, word: String) throws {
    let line = try JSONLine.parsed(Array((text + "\n").utf8))[0]
    let schema = try #require(SchemaValidator.schema(of: line))
    let problem = SchemaValidator.all[schema.name]?.problem(with: line)
    #expect(problem?.contains(word) == true, "\(problem ?? "none")")
  }
}
