import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeProcess

@testable import ZoetropeCLI

@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct InfoTemplateTests {
  @Test func `info prints a line per file as the template says`() throws {
    try withTool { (tool: Tool) throws in
      var thrice = SampleGIF()
      thrice.loop = 2
      try tool.write(thrice.bytes, to: "thrice.gif")
      let template =
        #"{file}\t{format} {width}x{height} {frames} {plays} {{{duration_ms}/{stored_duration_ms}}}"#
      let result = try tool.run("info", "cat.gif", "none", "thrice.gif", "--format", template)
      #expect(result.status == 1)
      #expect(result.errors.hasPrefix("zoetrope: error: none: "))
      #expect(
        result.text == "cat.gif\tgif 6x4 3 forever {240/140}\nthrice.gif\tgif 6x4 3 3 {240/140}\n")
      let exact = try tool.run(
        "info", "cat.gif", "--timing", "exact", "--format",
        #"{duration_ms} {least_delay_ms} {longest_delay_ms}\n{byte_count} {damage}"#)
      #expect(exact.text == "140 0 100\n\(SampleGIF().bytes.count) 0\n")
    }
  }

  @Test func `the former name of the stored duration still works`() {
    #expect(InfoTemplate("{stored_ms}") == InfoTemplate("{stored_duration_ms}"))
  }

  @Test func `a name is printed byte for byte`() throws {
    try withTool { (tool: Tool) throws in
      let script = """
        cp cat.gif "$(printf 'c\\351t.gif')" && \
        "$ZOETROPE" info "$(printf 'c\\351t.gif')" --format '{file}' >out
        """
      #expect(try tool.shell(script) == 0)
      #expect(try tool.read("out") == [0x63, 0xe9, 0x74] + Array(".gif\n".utf8))
    }
  }

  @Test func `a name cannot control a terminal`() throws {
    try withTool { (tool: Tool) throws in
      let image = try AnimatedImage(bytes: tool.read("cat.gif"))
      let name = "a\u{1B}[31m\n.gif"
      let report = AnimationReport(
        input: InputFile(path: FilePath(name)), image: image, policy: .browser)
      let template = try #require(InfoTemplate("{file}\\t{frames}"))
      let shown = String(decoding: template.line(report, isForTerminal: true), as: UTF8.self)
      #expect(shown == "a\\x1B[31m\\x0A.gif\t3\n")
      let written = String(decoding: template.line(report, isForTerminal: false), as: UTF8.self)
      #expect(written == "\(name)\t3\n")
    }
  }

  @Test(arguments: ["{size}", "{", "}", "{file", "\\x", "{}", "a\\"])
  func `an unknown template is refused`(_ template: String) throws {
    #expect(InfoTemplate(template) == nil)
    try withTool { (tool: Tool) throws in
      let result = try tool.run("info", "cat.gif", "--format", template)
      #expect(result.status == 2)
      #expect(result.errors.contains("{duration_ms}"))
      #expect(try tool.run("info", "cat.gif", "--json", "--format", "{file}").status == 2)
    }
  }
}
