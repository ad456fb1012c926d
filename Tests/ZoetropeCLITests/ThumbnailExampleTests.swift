import SystemPackage
import TestRunning
import Testing

/// `Examples/Thumbnails`.
@Suite(.timeLimit(.minutes(1)), .runsPrograms) struct ThumbnailExampleTests {
  @Test func `the example decodes in its first run only`() throws {
    try withTool { (tool: Tool) throws in
      try tool.write(SampleGIF(width: 9, height: 3).bytes, to: "dog.gif")
      let program = Tool.program(named: "thumbnails")
      let files = "cat.gif none dog.gif"
      #expect(
        try tool.shell("'\(program)' store \(files) >first && '\(program)' store \(files) >second")
          == 0)
      let first = String(decoding: try tool.read("first"), as: UTF8.self).split(separator: "\n")
      let second = String(decoding: try tool.read("second"), as: UTF8.self).split(separator: "\n")
      try #require(first.count == 4)
      #expect(first[0] == "cat.gif: 3 frames, 128x85")
      #expect(first[1].hasPrefix("none: "))
      #expect(first[3] == "0 from disk, 2 decoded")
      #expect(second.dropLast() == first.dropLast())
      #expect(second.last == "2 from disk, 0 decoded")
    }
  }
}
