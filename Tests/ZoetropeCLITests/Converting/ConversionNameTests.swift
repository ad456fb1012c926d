import TestRunning
import Testing
import Zoetrope
import ZoetropeProcess

@testable import ZoetropeCLI

/// Names of inputs and outputs that are easily mistaken for each other.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct ConversionNameTests {
  @Test func `names that are not valid UTF-8 and read alike are not mixed up`() throws {
    try withTool { (tool: Tool) throws in
      let script = """
        set -e
        a=$(printf 'a\\377.gif'); b=$(printf 'a\\376.gif'); cp cat.gif "$a"
        "$ZOETROPE" convert "$a" -o "$b" --force 2>err && exit 1 || test $? = 2
        grep -q 'two different names' err; cmp "$a" cat.gif; test ! -e "$b"
        "$ZOETROPE" convert cat.gif --output="$b" -q; cmp "$b" cat.gif; rm "$b"
        "$ZOETROPE" convert cat.gif -o"$b" -q; cmp "$b" cat.gif
        test "$(ls | wc -l)" = 4
        """
      let status = try tool.shell(script)
      let errors = String(decoding: try tool.read("err"), as: UTF8.self)
      #expect(status == 0, "\(errors)")
    }
  }

  @Test(arguments: [
    ("convert cat.gif -o o/{name} --format apng", "use {stem}.png"),
    ("convert cat.gif cat.gif -o o/", "cat.gif is named twice"),
    ("convert cat.gif ./cat.gif -o o/", "./cat.gif is named twice"),
    ("convert a/cat.gif b/cat.gif -o o/", "as in -o 'DIR/{dir}/{stem}.{ext}'"),
    ("convert a/cat.gif a/cat.png -o o/ --format apng", "as in -o 'DIR/{name}.{ext}'"),
  ])
  func `a name that cannot be meant is refused with a remedy`(
    _ command: String, _ message: String
  ) throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.shell("mkdir a b && cp cat.gif a; cp cat.gif b; cp cat.gif a/cat.png") == 0)
      let refused = try tool.run(command.split(separator: " ").map(String.init))
      #expect(refused.status == 2)
      #expect(refused.errors.contains(message), "\(refused.errors)")
      #expect(try !tool.list().contains("o"))
    }
  }

  @Test(arguments: [true, false])
  func `a long name is cut between characters, before its extension`(_ keepsExtension: Bool) {
    for start in ["", "x", "xx", "xxx"] {
      let name = start + String(repeating: "字", count: 90) + ".gif"
      let stem = FileStem.of(Array("d/\(name)".utf8), keepingExtension: keepsExtension)
      #expect((197...200).contains(stem.count))
      let text = String(decoding: stem, as: UTF8.self)
      #expect(text.hasSuffix(keepsExtension ? "字.gif" : "字"))
      #expect(text.unicodeScalars.allSatisfy { "x字.gif".unicodeScalars.contains($0) })
    }
    let odd = String(repeating: "a", count: 190) + "." + String(repeating: "b", count: 60)
    #expect(FileStem.of(Array(odd.utf8), keepingExtension: true).count == 200)
  }

  @Test func `the poster of a manifest is not replaced`() throws {
    try withTool { (tool: Tool) throws in
      let script = """
        set -e
        "$ZOETROPE" extract cat.gif -o p/ -q
        "$ZOETROPE" make p/cat-0000.png p/cat-0001.png -o a.png --fps 5 --poster p/cat-0002.png -q
        "$ZOETROPE" extract a.png -o d/ --manifest d/m.json --static include -q
        cp -r d before
        "$ZOETROPE" make d/m.json -o d/a-static.png --force 2>err && exit 1 || test $? = 2
        diff -r d before
        """
      let status = try tool.shell(script)
      let errors = String(decoding: try tool.read("err"), as: UTF8.self)
      #expect(status == 0, "\(errors)")
    }
  }
}
