import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCLI

/// What `convert`, `make` and `optimize` say of outputs that differ from their inputs, or do not.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct DepartureTests {
  private let apng = "\(FixtureLibrary().root)/APNG"

  @Test func `samples of 16 bits that are stored in 8 are not exact`() throws {
    try withTool { (tool: Tool) throws in
      let deep = "\(apng)/type-rgb-16.png"
      #expect(try tool.run("extract", deep, "-o", "f/", "--depth", "16", "-q").status == 0)
      for arguments in [
        ["convert", deep, "-o", "a.gif"], ["convert", deep, "-o", "a.png", "--colors", "256"],
        ["make", "f/", "-o", "b.gif", "--fps", "5"],
      ] {
        let result = try tool.run(arguments)
        #expect(result.status == 0 && result.text.contains("colours reduced"), "\(arguments)")
        let again = try tool.run(arguments + ["--json", "--force"])
        #expect(try JSONLine.one(again.output)["exact"] == false)
      }
      for arguments in [
        ["convert", deep, "-o", "c.png", "--size", "50%"],
        ["make", "f/", "-o", "d.png", "--fps", "5"],
        ["convert", "\(apng)/type-rgb-8.png", "-o", "e.png"],
      ] {
        #expect(try !tool.run(arguments).text.contains("colours reduced"), "\(arguments)")
      }
    }
  }

  @Test func `damage is told beside other differences`() throws {
    try withTool { (tool: Tool) throws in
      let bad = "\(FixtureLibrary().root)/Bad/lzw-bad-code.gif"
      let scaled = try tool.run("convert", bad, "-o", "a.gif", "--size", "200%")
      #expect(scaled.status == 1)
      #expect(scaled.text.hasSuffix("; damaged, scaled, colours kept\n"), "\(scaled.text)")
    }
    #expect([Departure.metadata].words(isDamaged: true) == "damaged, metadata left out")
    #expect([Departure.metadata].words(isDamaged: false) == "metadata left out")
  }

  @Test func `a GIF keeps a profile, and losing only its name is no loss of metadata`() throws {
    let gif = try #require(AnimationFormat.gif.writable)
    var metadata = AnimationMetadata()
    (metadata.iccProfile, metadata.iccProfileName) = ([1, 2, 3], "Display P3")
    #expect(!gif.losesMetadata(metadata))
    metadata.gamma = 45_455
    #expect(gif.losesMetadata(metadata))
  }

  @Test(arguments: ["APNG/chunk-unknown.png", "GIF/extension-unknown.gif"])
  func `reports and plans say that unknown chunks and blocks are left out`(_ name: String) throws {
    try withTool { (tool: Tool) throws in
      let file = "\(FixtureLibrary().root)/\(name)"
      let scaled = ["convert", file, "-o", "o/", "--size", "200%", "--force"]
      for more in [[], ["--plan"]] {
        let text = try tool.run(scaled + more).text
        #expect(text.contains("; scaled, metadata left out"), "\(text)")
        let line = try JSONLine.one(tool.run(scaled + more + ["--json"]).output)
        #expect(line["departures"].elements == ["scaled", "metadata"] && line["exact"] == false)
      }
      let copied = try tool.run("convert", file, "-o", "o/", "--force", "--speed", "0.5").text
      #expect(copied.hasSuffix("; exact\n"), "\(copied)")
    }
  }

  @Test func `reports say how far colours may differ, and how many are left`() throws {
    try withTool { (tool: Tool) throws in
      try tool.write(
        DeltaGIF.make(width: 80, height: 60, frameCount: 6, patch: 40), to: "in.gif")
      #expect(try tool.run("extract", "in.gif", "-o", "f/", "-q").status == 0)
      let lossy = try tool.run("optimize", "in.gif", "-o", "a.gif", "--lossy", "150")
      #expect(lossy.text.hasSuffix("; similar colours (lossy 150)\n"), "\(lossy.text)")
      let few = try tool.run("convert", "in.gif", "-o", "b.gif", "--colors", "16")
      #expect(few.text.hasSuffix("; colours reduced to 16\n"), "\(few.text)")
      for (arguments, code, field, number) in [
        (["optimize", "in.gif", "-o", "c.gif", "--lossy", "150"], "lossy", "lossy", 150),
        (["convert", "in.gif", "-o", "d.gif", "--colors", "16"], "colors", "colors", 16),
        (["make", "f/", "-o", "e.gif", "--fps", "5", "--lossy", "150"], "lossy", "lossy", 150),
      ] {
        let line = try JSONLine.one(tool.run(arguments + ["--json"]).output)
        #expect(line["departures"].elements == [JSONLine(stringLiteral: code)])
        #expect(line[field].integer == number && line["exact"] == false)
      }
    }
  }

  @Test func `a file that gets no smaller in place is left as it is`() throws {
    try withTool { (tool: Tool) throws in
      let film = try FixtureLibrary().file("Demo/bouncing-ball.gif")
      try tool.write(film, to: "a.gif")
      #expect(try tool.shell("ln a.gif b.gif; ln -s a.gif c.gif") == 0)
      var last: [UInt8] = film
      for _ in 0..<4 {
        #expect(try tool.run("optimize", "a.gif", "-o", "a.gif", "--force").status == 0)
        if try tool.read("a.gif") == last { break }
        last = try tool.read("a.gif")
      }
      #expect(try tool.shell("ln a.gif d.gif") == 0)
      for name in ["a.gif", "c.gif"] {
        let result = try tool.run("optimize", name, "-o", name, "--force")
        #expect(
          result.status == 0 && result.text.contains("left, no smaller file found"),
          "\(result.text)")
        #expect(try tool.shell("[ a.gif -ef d.gif ] && [ -L c.gif ]") == 0)
      }
      #expect(try tool.read("a.gif") == last)
      #expect(try tool.list().sorted() == ["a.gif", "b.gif", "c.gif", "cat.gif", "d.gif"])
    }
  }
}
