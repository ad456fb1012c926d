import SystemPackage
import TestRunning
import Testing
import Zoetrope

/// `info --save-index`, and `Examples/RemoteFrame`, which reads what it wrote.
@Suite(.timeLimit(.minutes(1)), .runsPrograms) struct SaveIndexTests {
  @Test func `the index of a file is written beside the report`() throws {
    try withTool { (tool: Tool) throws in
      let gif = SampleGIF(width: 9, height: 3).bytes
      try tool.write(gif, to: "dog.gif")
      let plain = try tool.run("info", "dog.gif")
      let saving = try tool.run("info", "--save-index", "dog.index", "dog.gif")
      #expect(saving.status == 0 && saving.output == plain.output)
      let index = ImageIndex(of: try AnimatedImage(bytes: gif))
      #expect(try ImageIndex(data: tool.read("dog.index")) == index)
      // An older one is replaced; that of standard input is written too.
      #expect(try tool.run("info", "--save-index", "dog.index", "-", input: gif).status == 0)
      #expect(try tool.read("dog.index") == index.data)
      #expect(try tool.run("info", "--save-index", "a", "dog.gif", "dog.gif").status == 2)
      #expect(try tool.run("info", "--save-index", "-", "dog.gif").status == 2)
      #expect(try tool.run("info", "--save-index", "no/such/place", "dog.gif").status == 4)
    }
  }

  @Test func `the example reads a frame's bytes alone with an index`() throws {
    try withTool { (tool: Tool) throws in
      try tool.write(SampleGIF(width: 9, height: 3).bytes, to: "dog.gif")
      let program = Tool.program(named: "remote-frame")
      #expect(
        try tool.shell(
          """
          $ZOETROPE info --save-index dog.index dog.gif >/dev/null &&
          '\(program)' dog.gif 0 plain.png >plain && '\(program)' dog.gif 0 frame.png dog.index >out
          """) == 0)
      let lines = String(decoding: try tool.read("out"), as: UTF8.self).split(separator: "\n")
      #expect(lines.first == "opened: 0 reads, 0 bytes")
      #expect(lines.last?.hasPrefix("frame 0: 1 reads, ") == true)
      #expect(try tool.read("frame.png") == tool.read("plain.png"))
    }
  }
}
