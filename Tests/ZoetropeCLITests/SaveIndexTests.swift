import SystemPackage
import TestRunning
import Testing
import Zoetrope

/// `info --save-index`; `ExampleTests` reads what it wrote.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct SaveIndexTests {
  @Test func `the index of a file is written beside the report`() throws {
    try withTool { (tool: Tool) throws in
      let gif = SampleGIF(width: 9, height: 3).bytes
      try tool.write(gif, to: "dog.gif")
      let plain = try tool.run("info", "dog.gif")
      let saving = try tool.run("info", "--save-index", "dog.index", "dog.gif")
      #expect(saving.status == 0 && saving.output == plain.output)
      let index = ImageIndex(of: try AnimatedImage(bytes: gif))
      #expect(try ImageIndex(bytes: tool.read("dog.index")) == index)
      // An older one is replaced; that of standard input is written too.
      #expect(try tool.run("info", "--save-index", "dog.index", "-", input: gif).status == 0)
      #expect(try tool.read("dog.index") == index.bytes)
      #expect(try tool.run("info", "--save-index", "a", "dog.gif", "dog.gif").status == 2)
      for name in ["-", ""] {
        #expect(try tool.run("info", "--save-index", name, "dog.gif").status == 2)
      }
      #expect(try tool.run("info", "--save-index", "no/such/place", "dog.gif").status == 4)
    }
  }

  @Test func `only an index is replaced, and never the input`() throws {
    try withTool { (tool: Tool) throws in
      let gif = try tool.read("cat.gif")
      try tool.write([1], to: "mine")
      #expect(try tool.shell("ln -s cat.gif link") == 0)
      for name in ["cat.gif", "link"] {
        #expect(try tool.run("info", "--save-index", name, "cat.gif").status == 2)
      }
      let refused = try tool.run("info", "--save-index", "mine", "cat.gif")
      #expect(refused.status == 4 && refused.errors.contains("mine exists and is not an index"))
      #expect(try tool.read("mine") == [1])
      #expect(try tool.read("cat.gif") == gif)
    }
  }
}
