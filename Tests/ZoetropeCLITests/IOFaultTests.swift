import SystemPackage
import TestRunning
import Testing
import Zoetrope

/// System calls that end early, are interrupted or fail, because of an interposed library.
///
/// Interruptions and short transfers change nothing. A failure is one line and one status, and leaves no incomplete
/// file under a final name.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct IOFaultTests {
  /// The interposed library, compiled once.
  static let library = Result {
    let tool = try Tool()
    defer { tool.cleanUp() }
    let source = FilePath(#filePath).removingLastComponent().removingLastComponent()
      .appending("Faults/faults.c")
    let compiler = "$(command -v clang || command -v cc)"
    try #require(try tool.shell("\(compiler) -O1 -shared -fPIC -o faults.so '\(source)' -ldl") == 0)
    return try tool.read("faults.so")
  }

  private func withTool(_ body: (Tool, (String, String) throws -> Int32) throws -> Void) throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    var sample = SampleGIF()
    sample.isMixed = true
    sample.width = 60
    sample.height = 50
    try tool.write(sample.bytes, to: "cat.gif")
    try tool.write(Self.library.get(), to: "faults.so")
    // Otherwise the address sanitizer insists on being the first library. Some shells run their last command in their
    // own process, and end by the signal that ended it.
    try body(tool) { fault, arguments in
      try tool.shell(
        "env ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 FAULT=\(fault) "
          + "LD_PRELOAD=./faults.so timeout 120 \"$ZOETROPE\" \(arguments); exit $?")
    }
  }

  @Test(arguments: ["interrupt", "short", "both"])
  func `interruptions and short transfers change nothing`(fault: String) throws {
    try withTool { (tool, run) throws in
      for (number, arguments) in [
        "info cat.gif", "info --json cat.gif", "check --json cat.gif", "info <cat.gif -",
        "still cat.gif -o -", "extract cat.gif -o {O}", "extract - -o {O} <cat.gif",
        "play cat.gif --protocol none --once --late stretch --trace -",
      ].enumerated() {
        let plain = arguments.replacing("{O}", with: "plain\(number)/")
        let faulty = arguments.replacing("{O}", with: "faulty\(number)/")
        let status = try tool.shell("\"$ZOETROPE\" \(plain) >plain.out 2>plain.err")
        #expect(status == 0, "\(arguments)")
        #expect(try run(fault, "\(faulty) >faulty.out 2>faulty.err") == 0, "\(arguments)")
        if arguments.hasPrefix("play") {
          // The times differ.
          let traces = try ["plain.out", "faulty.out"].map { name in
            try PlaybackTrace(json: String(decoding: try tool.read(name), as: UTF8.self))
          }
          for trace in traces { #expect(trace.entries.map(\.index) == [0, 1, 2]) }
        } else {
          let isEqual = try tool.shell("cmp plain.out faulty.out")
          #expect(isEqual == 0, "\(arguments)")
        }
        if arguments.contains("{O}") {
          let isEqual = try tool.shell("diff -r plain\(number) faulty\(number)")
          #expect(isEqual == 0, "\(arguments)")
        }
      }
    }
  }

  @Test(arguments: 0..<4)
  func `commands do their work where the system has no thread left`(threads: Int) throws {
    try withTool { (tool, run) throws in
      for (number, arguments) in [
        "info --json --hashes cat.gif", "check --json cat.gif", "info - <cat.gif",
        "still cat.gif --frame -1 -o -", "extract cat.gif --format rgba -o -",
        "extract - --format rgba -o - <cat.gif", "sheet cat.gif -o -",
        "convert cat.gif --size 20x --format apng -o -", "convert cat.gif --speed 2 -o -",
        "convert cat.gif --size 20x --max-bytes 4K -o -", "optimize cat.gif --effort small -o -",
        "play cat.gif --protocol none --once --late stretch --trace -",
      ].enumerated() {
        let plain = try tool.shell("\"$ZOETROPE\" \(arguments) >plain\(number) 2>err")
        #expect(plain == 0, "\(arguments)")
        let status = try run("thread:\(threads)", "\(arguments) >faulty\(number) 2>err")
        let errors = String(decoding: try tool.read("err"), as: UTF8.self)
        // The arriving bytes of a pipe are read by a separate thread, which may wait forever.
        if status == 5, arguments.hasPrefix("extract -"), errors.contains("cannot create a thread")
        {
          continue
        }
        #expect(status == 0, "\(arguments): \(errors)")
        // The times of playback differ.
        if arguments.hasPrefix("play") { continue }
        let isEqual = try tool.shell("cmp plain\(number) faulty\(number)")
        #expect(isEqual == 0, "\(arguments)")
      }
    }
  }

  @Test(arguments: [0, 1, 13, 100, 2000])
  func `a disk that cannot be read is status 3`(limit: Int) throws {
    try withTool { (tool, run) throws in
      for arguments in ["info cat.gif", "check cat.gif", "extract cat.gif -o o/", "info -"] {
        let status = try run("read:\(limit)", "\(arguments) <cat.gif >out 2>err")
        #expect(status == 3, "\(arguments)")
        let errors = String(decoding: try tool.read("err"), as: UTF8.self)
        #expect(errors.contains("nput/output error"), "\(arguments): \(errors)")
        #expect(try tool.shell("test -z \"$(ls -A o 2>/dev/null)\"") == 0)
      }
    }
  }

  @Test(arguments: ["write:0", "write:50", "write:200", "close", "link"])
  func `a disk that cannot be written is status 4, and no file is incomplete`(
    fault: String
  ) throws {
    try withTool { (tool, run) throws in
      #expect(try tool.shell("\"$ZOETROPE\" extract cat.gif -o whole/") == 0)
      #expect(try run(fault, "extract cat.gif -o o/ 2>err") == 4)
      let errors = String(decoding: try tool.read("err"), as: UTF8.self)
      #expect(errors.contains(fault.hasPrefix("write") ? "No space" : "nput/output error"))
      // Existing files are complete, and no temporary file is left.
      let check =
        "for f in $(ls -A o); do cmp o/$f whole/$f || exit 1; done; test $(ls -A o | wc -l) -lt 3"
      #expect(try tool.shell(check) == 0)
      #expect(
        try tool.shell("\"$ZOETROPE\" extract cat.gif -o o/ --resume && diff -r o whole") == 0)
    }
  }

  @Test func `a signal at any read ends an extraction with a cache, and the next one works`() throws
  {
    try withTool { (tool, run) throws in
      // Counts reads of the cache's files, reads that hash the input for the cache, and reads of frames.
      let extract = "extract cat.gif --size 3x2 --cache c -j 1"
      var interrupted = 0
      for place in 0..<100 {
        let status = try run("signal:\(place)", "\(extract) -o o\(place)/ 2>err")
        let errors = String(decoding: try tool.read("err"), as: UTF8.self)
        if status == 0 { break }
        interrupted += 1
        // The status that `timeout` reports when the signal ended the tool.
        #expect(status == 130, "read \(place): \(errors)")
        #expect(errors.isEmpty || errors.contains("interrupted"), "read \(place): \(errors)")
        #expect(try tool.shell("test -z \"$(ls -A o\(place) 2>/dev/null | grep -v png)\"") == 0)
        try #require(try tool.shell("rm -rf c") == 0)
      }
      #expect(interrupted >= 2 && interrupted < 100)
      let plain = try tool.shell("\"$ZOETROPE\" extract cat.gif --size 3x2 -o plain/ -j 1")
      #expect(plain == 0)
      #expect(try tool.shell("\"$ZOETROPE\" \(extract) -o o/ && diff -r o plain") == 0)
    }
  }
}

extension Tool {
  /// The start of a shell line that runs the tool and sends it a signal when it first writes to a file. However fast it
  /// is, it is not done by then.
  func signalled(_ number: Int32) throws -> String {
    try write(IOFaultTests.library.get(), to: "faults.so")
    return "env ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 FAULT=signal-write:\(number) "
      + "LD_PRELOAD=./faults.so \"$ZOETROPE\""
  }
}
