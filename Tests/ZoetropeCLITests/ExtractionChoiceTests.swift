import TestRunning
import Testing

@testable import ZoetropeCLI

/// Which frames are taken, how often, and what the files are called.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct ExtractionChoiceTests {
  private let gif = SampleGIF()

  @Test(arguments: [
    (2, 64 << 20, 4), (64, 8 << 20, 128), (64, 64 << 20, 16), (64, 2 << 30, 1), (8, 0, 16),
  ])
  func `frames in progress take no more than a gigabyte`(_ jobs: Int, _ bytes: Int, _ count: Int) {
    #expect(ExtractionWriter.window(jobs: jobs, frameByteCount: bytes) == count)
  }

  @Test(arguments: [
    ("--frames -1", [2]), ("--frames=-1", [2]), ("--frames -2-", [1, 2]),
    ("--frames -3--2", [0, 1]),
    ("--frames -2:", [1, 2]), ("--time -40ms", [0]), ("--time -41ms", [0, 1]),
  ])
  func `negative values need no equals sign`(_ options: String, _ frames: [Int]) throws {
    try withTool { tool in
      let arguments = options.split(separator: " ").map(String.init)
      let result = try tool.run(
        ["extract", "cat.gif", "--format", "rgba", "-o", "-"] + arguments)
      #expect(result.status == 0)
      #expect(result.output == frames.flatMap { gif.pixels($0) })
    }
  }

  @Test(arguments: [
    ("--max -1", "--max must be at least 1"), ("-j -1", "--jobs must be a number"),
    ("--every -2", "--every must be at least 1"), ("--frames 2-1", "ranges must ascend"),
    ("--frames ::-1", "ranges must ascend"), ("--frames --max", "invalid"),
    ("--time 5s", "a play takes 240 ms"), ("--time 5s --fps 5", "a play takes 240 ms"),
    ("--fps 0", "invalid"), ("--fps 5 --frames 1", "--fps"),
  ])
  func `a senseless value is reported`(_ options: String, _ text: String) throws {
    try withTool { tool in
      let arguments = options.split(separator: " ").map(String.init)
      let result = try tool.run(["extract", "cat.gif", "-o", "o/"] + arguments)
      #expect(result.status == 2)
      #expect(result.errors.contains(text))
    }
  }

  @Test func `play and still count from the end too`() throws {
    try withTool { tool in
      let still = try tool.run("still", "cat.gif", "--format", "rgba", "-o", "-", "--frame", "-1")
      #expect(still.output == gif.pixels(2))
      let play = ["play", "cat.gif", "--protocol", "none", "--speed", "20", "--late", "stretch"]
      #expect(try tool.run(play + ["--start", "-1"]).text.hasPrefix("finished: presented=1 "))
      #expect(try tool.run(play + ["--start", "-4"]).status == 2)
      let last = try tool.run("play", "cat.gif", "--frame", "-1")
      #expect(last.status == 0)
      let second = try tool.run("play", "cat.gif", "--frame", "2")
      #expect(last.output == second.output)
    }
  }

  @Test func `resampled pictures repeat a frame while it is shown`() throws {
    try withTool { tool in
      // Shown for 40, 100 and, as browsers show 0, 100 ms.
      let result = try tool.run(
        "extract", "cat.gif", "--format", "rgba", "-o", "-", "--fps", "25")
      #expect(result.status == 0)
      #expect(result.output == [0, 1, 1, 1, 2, 2].flatMap { gif.pixels($0) })
      let files = try tool.run(
        "extract", "cat.gif", "-o", "o/{index:03}-{start_ms:04}-{shown_ms}.png", "--fps", "12.5",
        "--max", "2")
      #expect(files.status == 0)
      #expect(try tool.list("o") == ["000-0000-80.png", "001-0080-80.png"])
    }
  }

  @Test(arguments: [
    ("80ms-200ms", [1, 1, 2], ["0-80", "1-120", "2-160"]), ("-41ms", [0, 1], ["0-0", "1-40"]),
    ("190ms-", [2, 2], ["0-190", "1-230"]), ("50ms", [1], ["0-50"]),
  ])
  func `a part of a play is resampled from its start`(
    _ time: String, _ frames: [Int], _ names: [String]
  ) throws {
    try withTool { tool in
      let part = ["extract", "cat.gif", "--fps", "25", "--time", time]
      let result = try tool.run(part + ["--format", "rgba", "-o", "-"])
      #expect(result.status == 0)
      #expect(result.output == frames.flatMap { gif.pixels($0) })
      let files = try tool.run(part + ["-o", "o/{index}-{start_ms}.png", "--manifest", "m.csv"])
      #expect(files.status == 0)
      #expect(try tool.list("o") == names.map { "\($0).png" })
      let starts = names.compactMap { $0.split(separator: "-").last }
      let table = String(decoding: try tool.read("m.csv"), as: UTF8.self)
      let rows = table.split(separator: "\n").dropFirst()
      #expect(rows.count == starts.count)
      for (row, start) in zip(rows, starts) { #expect(row.split(separator: ",").contains(start)) }
    }
  }

  @Test(arguments: [
    ("25", 25, 1), ("29.97", 2997, 100), ("0.5", 1, 2), ("30000/1001", 30000, 1001),
  ])
  func `a rate is a number or a fraction`(_ text: String, _ above: Int, _ below: Int) throws {
    let rate = try #require(PictureRate(text))
    #expect(rate.numerator * below == rate.denominator * above)
    #expect(rate.time(ofPicture: above) == .seconds(below))
  }

  @Test(arguments: ["", "0", "-1", "x", "1001", "1/0", "1e3", "1.2345", "1/2/3", ".5", "1.", "٣"])
  func `other rates are refused`(_ text: String) {
    #expect(PictureRate(text) == nil)
  }

  @Test func `a rate that fits the delays takes each frame once, however many there are`() throws {
    let rate = try #require(PictureRate("30"))
    let delays = [Duration](repeating: .seconds(1) / 30, count: 100_000)
    #expect(rate.frames(shownFor: delays, maximum: .max) == Array(0..<100_000))
    #expect(rate.frames(shownFor: delays, maximum: 3) == [0, 1, 2])
    #expect(rate.frames(shownFor: [.seconds(1_000_000_000)], maximum: .max) == nil)
  }

  @Test func `files with equal stems are distinguished by their whole names`() throws {
    try withTool { tool in
      try tool.write(gif.bytes, to: "cat.png")
      let refused = try tool.run("extract", "cat.gif", "cat.png", "-o", "o")
      #expect(refused.status == 2)
      #expect(refused.errors.contains("{name}"))
      let result = try tool.run(
        "extract", "cat.gif", "cat.png", "-o", "o/{name}-{index}.{ext}", "--max", "1")
      #expect(result.status == 0)
      #expect(try tool.list("o") == ["cat.gif-0.png", "cat.png-0.png"])
      let twice = try tool.run("extract", "cat.gif", "./cat.gif", "-o", "o/{name}-{index}.{ext}")
      #expect(twice.status == 2)
      #expect(twice.errors.contains("they are the same file, so name it once"))
    }
  }

  @Test(arguments: [
    "still cat.gif -o a.jpg", "still cat.gif -o a.GIF", "extract cat.gif -o a.gif --max 1",
    "extract cat.gif -o a-{index}.webp", "still cat.gif -o a.png --format rgba",
  ])
  func `a name that promises another kind of file is refused`(_ line: String) throws {
    try withTool { tool in
      let result = try tool.run(line.split(separator: " ").map(String.init))
      #expect(result.status == 2)
      #expect(result.errors.contains("its name ends in ."))
      #expect(try tool.list() == ["cat.gif"])
    }
  }

  @Test func `a still goes into a directory or is named by a template`() throws {
    try withTool { tool in
      #expect(try tool.shell("mkdir d") == 0)
      for (output, name) in [
        ("d", "d/cat-0001.png"), ("new/", "new/cat-0001.png"),
        ("t/{name}-{index}-{start_ms:05}-{shown_ms}.{ext}", "t/cat.gif-1-00040-100.png"),
        ("plain", "plain"),
      ] {
        #expect(try tool.run("still", "cat.gif", "-o", output, "--frame", "1").status == 0)
        #expect(try tool.read(name).starts(with: [0x89, 0x50]))
      }
      let again = try tool.run("still", "cat.gif", "-o", "d", "--frame", "1")
      #expect(again.status == 4)
      #expect(again.errors == "zoetrope: error: d/cat-0001.png exists; --force replaces it\n")
    }
  }

  @Test func `a file that looks like options is not a success`() throws {
    try withTool { tool in
      try tool.write(gif.bytes, to: "-dash.gif")
      let result = try tool.run("info", "-dash.gif", "cat.gif")
      #expect(result.status == 2)
      #expect(result.output.isEmpty)
      #expect(result.errors.contains("./-dash.gif"))
      #expect(try tool.run("info", "./-dash.gif").status == 0)
      #expect(try tool.run("info", "--", "-dash.gif").status == 0)
      #expect(try tool.run("info", "-h").status == 0)
    }
  }

  @Test func `equal findings of a check are one line with their count`() throws {
    var sample = SampleGIF()
    sample.frames = (0..<5).map { (UInt8($0 % 3), 4) }
    sample.behindEnd = [1, 2]
    try withTool { tool in
      try tool.write(sample.bytes, to: "more.gif")
      let result = try tool.run("check", "more.gif")
      #expect(result.status == 0)
      #expect(result.text.split(separator: "\n").count == 2)
      #expect(result.text.hasSuffix(", and 4 more like it [gif.lzw.surplus]\n"))
      let damage = try JSONLine.one(tool.run("check", "more.gif", "--json").output)["damage"]
      #expect(damage.count == 5)
      #expect(damage.elements.allSatisfy { $0["kind"] == "gif.lzw.surplus" })
      // The byte that ffmpeg flushes after its end codes is not reported.
      sample.behindEnd = [0]
      try tool.write(sample.bytes, to: "spare.gif")
      let spare = try tool.run("check", "--strict", "spare.gif")
      #expect(spare.status == 0)
      #expect(spare.text == "spare.gif: ok, 5 frames\n")
    }
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func `completion offers files and values`(_ shell: String) throws {
    try withTool { tool in
      let script = try tool.run("--generate-completion-script", shell)
      #expect(script.status == 0)
      for word in ["apng", "kitty-images", "stretch", "catchup", "imageio", "checker", "inf"] {
        #expect(script.text.contains(word))
      }
      // A file where a command may stand, and the words of --cache.
      let additions = [
        "bash": [
          "-- \"${cur}\"))\n        __zoetrope_add_completions -o plusdirs -fX '!*.@(gif|png|apng)'\n",
          "'--cache')\n        __zoetrope_add_completions -W 'none'$'\\n''default'\n",
        ],
        "zsh": [
          "subcommands && ret=0\n        _files -g '*.gif *.png *.apng' && ret=0",
          ":dir:{__zoetrope_complete none default; _files -/}'",
        ],
        "fish": [
          #""zoetrope" -eq 1' -fa '(set -l exts \'gif\'"#, "-rfa 'none default (",
        ],
      ]
      for text in additions[shell] ?? [] { #expect(script.text.contains(text)) }
    }
  }
}
