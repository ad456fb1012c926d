import ArgumentParser
import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeProcess

@testable import ZoetropeCLI
@testable import ZoetropeCore

/// Names of outputs that could be taken for other names.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct ConversionNameTests {
  @Test(arguments: ["", "-o", "-o=", "--output="])
  func `a name keeps its bytes wherever it stands in the arguments`(_ start: String) {
    let alike: [[UInt8]] = [[0x61, 0xe9], [0x61, 0xe8], Array("a\u{fffd}".utf8)]
    let names = RawArguments.names(in: alike.map { Array(start.utf8) + $0 })
    #expect(names["a\u{fffd}"] == Set(alike))
    let last = RawArguments.names(in: [Array("--".utf8), Array("-o".utf8) + alike[0]])
    #expect(Set(last.keys) == ["-oa\u{fffd}"])
    #expect(RawArguments.names(in: [Array("é.gif".utf8), Array("--output=é".utf8)]).isEmpty)
  }

  @Test(arguments: [#"-o "$b""#, #"-o"$b""#, #"--output="$b""#])
  func `two names that read alike are refused, and neither file is replaced`(
    _ output: String
  ) throws {
    try withTool { (tool: Tool) throws in
      let names = #"a=$(printf 'c\351.gif') && b=$(printf 'c\350.gif')"#
      let convert = #"cp cat.gif "$a" && "$ZOETROPE" convert "$a" --speed 2 --force"#
      #expect(try tool.shell("\(names) && \(convert) \(output) 2>err") == 2)
      let errors = String(decoding: try tool.read("err"), as: UTF8.self)
      #expect(errors.contains("both read as c\u{fffd}.gif"), "\(errors)")
      #expect(try tool.shell(#"\#(names) && cmp cat.gif "$a" && test ! -e "$b""#) == 0)
      // The same name twice is meant.
      #expect(try tool.shell(#"\#(names) && \#(convert) -o "$a" -q"#) == 0)
      // Alone, the name is that of a new file.
      #expect(
        try tool.shell(
          #"\#(names) && "$ZOETROPE" convert cat.gif \#(output) -q && test -e "$b""#) == 0)
    }
  }

  @Test func `a name in the arguments is not that of a file in a directory`() throws {
    try withTool { (tool: Tool) throws in
      let script = #"""
        a=$(printf 'in/c\351.gif') && b=$(printf 'in/c\350.gif') && mkdir in && cp cat.gif "$a" && \
        "$ZOETROPE" convert in -o "$b" --speed 2 --force -q && cmp cat.gif "$a" && test -e "$b"
        """#
      #expect(try tool.shell(script) == 0)
    }
  }

  @Test func `failures of files with names that read alike have their own bytes`() throws {
    try withTool { (tool: Tool) throws in
      let script = #"""
        mkdir e && echo a >"$(printf 'e/\351.gif')" && echo b >"$(printf 'e/\352.gif')"
        """#
      #expect(try tool.shell(script) == 0)
      for command in [["info"], ["optimize", "-o", "o/"]] {
        let lines = try JSONLine.all(try tool.run(command + ["e", "--json"]).output)
        #expect(lines.map { $0["file_base64"] } == ["ZS/pLmdpZg==", "ZS/qLmdpZg=="])
      }
      let list = try tool.run("extract", "e", "-o", "o/{name}/{index}.png", "--manifest", "-")
      let lines = try JSONLine.all(list.output)
      #expect(lines.map { $0["file_base64"] } == ["ZS/pLmdpZg==", "ZS/qLmdpZg=="])
    }
  }

  @Test func `a name that ends in the input's name does not contradict the format`() throws {
    let inputs = [InputFile("b.png"), InputFile("x/a.gif")]
    let failure = #expect(throws: CommandFailure.self) {
      try AnimationDestination("o/{name}", for: inputs, format: .apng)
    }
    #expect(
      failure?.message
        == "--format apng contradicts the extension .gif of x/a.gif; replace {name} with {stem}.png"
    )
    let kept = try AnimationDestination("o/{name}", for: [inputs[0]], format: .apng)
    #expect(kept.name(of: 0).text == "o/b.png")
    let template = try OutputTemplate(parsing: Array("o/{name}".utf8))
    try FileEnding.check(template, .png, for: [inputs[0]])
    let other = #expect(throws: CommandFailure.self) {
      try FileEnding.check(template, .png, for: inputs)
    }
    #expect(
      other?.message
        == "the output is PNG, but its name ends in .gif; replace {name} with {stem}.png")
  }

  @Test func `a name that ends in the input's stem does not contradict the format`() throws {
    let (plain, odd) = (InputFile("b.png"), InputFile("a.gif.png"))
    let failure = #expect(throws: CommandFailure.self) {
      try AnimationDestination("o/{stem}", for: [plain, odd], format: .apng)
    }
    #expect(
      failure?.message
        == "--format apng contradicts the extension .gif of the output; add .png to the output name"
    )
    let kept = try AnimationDestination("o/{stem}", for: [plain], format: .apng)
    #expect(kept.name(of: 0).text == "o/b")
    let template = try OutputTemplate(parsing: Array("o/{stem}".utf8))
    try FileEnding.check(template, .png, for: [plain])
    let other = #expect(throws: CommandFailure.self) {
      try FileEnding.check(template, .png, for: [plain, odd])
    }
    #expect(
      other?.message
        == "the output is PNG, but its name ends in .gif; add .png to the output name")
  }

  @Test func `outputs that keep the extensions of their inputs are told apart by them`() throws {
    let inputs = [InputFile("a.gif"), InputFile("a.png")]
    for keepsFormat in [false, true] {
      let kept = try AnimationDestination(
        "o/{stem}.{ext}", for: inputs, keepsFormat: keepsFormat)
      #expect(inputs.indices.map { kept.name(of: $0).text } == ["o/a.gif", "o/a.png"])
    }
    // Both outputs are GIF.
    for template in ["o/{ext}/{stem}.gif", "o/{stem}.{ext}.gif"] {
      #expect(throws: CommandFailure.self) { try AnimationDestination(template, for: inputs) }
    }
  }

  @Test func `names that say nothing of the format are kept`() throws {
    let (plain, stream) = (InputFile("a.gif"), InputFile("-"))
    for (name, input) in [
      ("b", plain), ("b.bak", plain), ("o/{stem}", plain), ("b.GIF", plain), ("b.gif", stream),
      ("{stem}.gif", stream), ("o/{name}.gif", stream),
    ] {
      let kept = try AnimationDestination(name, for: [input], keepsFormat: true)
      try kept.check(0, holds: .gif, of: "a")
    }
  }

  /// A directory with two GIFs, one of which is called a PNG.
  private func withDisguise(_ body: (Tool) throws -> Void) throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.shell("mkdir in && cp cat.gif in/real.gif && cp cat.gif in/fake.png") == 0)
      try body(tool)
    }
  }

  @Test func `a file whose name is wrong is named, with a name that is right`() throws {
    try withDisguise { (tool: Tool) throws in
      let result = try tool.run("optimize", "in", "-o", "o/")
      #expect(result.status == 1)
      #expect(
        result.errors.contains(
          "error: in/fake.png: the output is GIF, but its name ends in .png; choose an output name "
            + "that ends in .gif\n"), "\(result.errors)")
      #expect(try tool.list("o") == ["real.gif"])
      let named = try tool.run("optimize", "in/fake.png", "-o", "o/fake.gif")
      #expect(named.status == 0, "\(named.errors)")
    }
  }

  @Test func `the name determines the format, and a warning says what the file was`() throws {
    try withDisguise { (tool: Tool) throws in
      let result = try tool.run("convert", "in", "-o", "o/")
      #expect(result.status == 0)
      let warnings = result.errors.split(separator: "\n").filter { $0.contains("warning") }
      #expect(
        warnings == [
          "zoetrope: warning: in/fake.png: the file is GIF; the output is APNG, as the name of the "
            + "file says"
        ])
      #expect(try AnimatedImage(bytes: tool.read("o/fake.png")).format == .apng)
      let kept = try tool.run("convert", "in/fake.png", "-o", "o/", "--format", "gif")
      #expect(kept.status == 0 && kept.errors.isEmpty, "\(kept.errors)")
      try tool.write(PNGEncoder().encode(Bitmap(width: 3, height: 2)), to: "still.png")
      #expect(try tool.run("convert", "still.png", "-o", "o/").errors.isEmpty)
    }
  }

  @Test func `control characters are replaced in output names, and the help says so`() throws {
    try withTool { (tool: Tool) throws in
      let script = #"""
        mkdir in && cp cat.gif "in/$(printf 'a\nb\033.gif')" && "$ZOETROPE" optimize in -o o/ -q
        """#
      #expect(try tool.shell(script) == 0)
      #expect(try tool.list("o") == ["a_b_.gif"])
    }
    for help in [
      ConvertCommand.configuration.discussion, OptimizeCommand.configuration.discussion,
      ExtractCommand.configuration.discussion,
    ] {
      #expect(help.contains("control characters are replaced by _, and so is .. in {dir}."))
    }
  }

  /// Returns the message that refuses the names that `template` gives to the outputs of `inputs`.
  private func refusal(_ template: String, _ inputs: [InputFile]) throws -> String? {
    let template = try OutputTemplate(parsing: Array(template.utf8))
    do throws(CommandFailure) {
      try template.checkNames(of: inputs, example: "DIR/{name}.png")
      return nil
    } catch {
      return error.message
    }
  }

  @Test(
    arguments: [
      ("{stem}.png", ["a.gif", "a.png"], "as in -o 'DIR/{name}.png'"),
      ("{stem}.png", ["x/a.gif", "y/a.gif"], "as in -o 'DIR/{dir}/{name}.png'"),
      ("{dir}/{stem}", ["x/a.gif", "x/a.png", "y/a.gif"], "as in -o 'DIR/{dir}/{name}.png'"),
      ("{name}", ["x/none.gif", "/x/none.gif"], "; run the command once for each of them"),
      ("{name}", ["none.gif", "none.gif"], "none.gif is named twice; name it once"),
    ] as [(String, [String], String)])
  func `advice on equal names leads to different names`(
    _ template: String, _ names: [String], _ advice: String
  ) throws {
    let message = try refusal(template, names.map { InputFile($0) })
    #expect(message?.hasSuffix(advice) == true, "\(message ?? "")")
  }

  @Test func `files of two directories are told apart by the names of these directories`() throws {
    let inputs = [
      InputFile(path: "x/a.gif", below: "x"), InputFile(path: "y/a.gif", below: "y"),
    ]
    let message = try refusal("{dir}/{name}", inputs)
    #expect(message?.hasSuffix("as in -o 'DIR/{parent}/{name}.png'") == true, "\(message ?? "")")
    #expect(try refusal("DIR/{parent}/{name}.png", inputs) == nil)
  }

  @Test(arguments: [
    ("convert cat.gif cat.png -o o/{stem}.gif", "-o 'DIR/{name}.gif'"),
    ("convert cat.gif cat.png -o o/ --format apng", "-o 'DIR/{name}.png'"),
    ("optimize cat.gif cat.png -o o/{stem}.gif", "-o 'DIR/{name}'"),
    ("extract cat.gif cat.png -o o/ --format y4m", "-o 'DIR/{name}.y4m'"),
    ("extract cat.gif dog.gif -o o/{stem}.png", "add {index} to the output name"),
    ("extract cat.gif ./cat.gif -o o/", "they are the same file, so name it once"),
  ])
  func `advice keeps the format of the outputs`(_ line: String, _ advice: String) throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.shell("cp cat.gif cat.png && cp cat.gif dog.gif") == 0)
      let result = try tool.run(line.split(separator: " ").map(String.init))
      #expect(result.status == 2)
      #expect(result.errors.contains(advice), "\(result.errors)")
      #expect(try tool.list() == ["cat.gif", "cat.png", "dog.gif"])
    }
  }

  @Test func `each command's help says what {dir} means`() {
    let meaning =
      "{dir} (the directory in the input's path as given, without a leading /; for an input found "
      + "in a directory that was given, only the part below that directory)"
    for help in [
      ConvertCommand.configuration.discussion, OptimizeCommand.configuration.discussion,
      ExtractCommand.configuration.discussion,
    ] {
      #expect(help.contains(meaning))
    }
    func directory(_ input: InputFile) -> String {
      String(decoding: input.directory, as: UTF8.self)
    }
    #expect(directory(InputFile("./x/y/a.gif")) == "x/y")
    #expect(directory(InputFile("/x/y/a.gif")) == "x/y")
    #expect(directory(InputFile(path: "/x/y/a.gif", below: "/x")) == "y")
    #expect(directory(InputFile(path: "/x/a.gif", below: "/x")) == ".")
  }
}
