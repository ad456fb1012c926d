import Glibc
import SystemPackage
import TestRunning
import Testing
import Zoetrope

/// Inputs and outputs that are not what their names promise: one line, one status, and never a crash.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct InputFaultTests {
  /// The first input has no end, and must not be read until memory is full.
  @Test(.boundsMemory, arguments: ["/dev/zero", "loop", "missing"])
  func `inputs that are not finite files are rejected`(name: String) throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.shell("ln -s loop loop") == 0)
      let limited = "ulimit -v 2000000; timeout 120 \"$ZOETROPE\" info \(name) 2>err"
      #expect(try tool.shell(limited) == 3)
      let errors = try tool.read("err")
      #expect(!errors.isEmpty)
    }
  }

  @Test func `an error shows an empty name as quotes`() throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run("info", "")
      #expect(result.status == 3)
      #expect(result.errors == "zoetrope: error: '': No such file or directory\n")
    }
  }

  @Test func `a pipe with a name is read to its end, also in pieces`() throws {
    try withTool { (tool: Tool) throws in
      let script =
        "mkfifo p && { (head -c 20 cat.gif; sleep 0.05; tail -c +21 cat.gif) >p & "
        + "timeout 120 \"$ZOETROPE\" info p >out; }"
      #expect(try tool.shell(script) == 0)
      let text = String(decoding: try tool.read("out"), as: UTF8.self)
      #expect(text.contains("3 frames"))
    }
  }

  @Test func `a link to a file is that file, and a link in the way is not written through`() throws
  {
    try withTool { (tool: Tool) throws in
      let script =
        "ln -s cat.gif link.gif && mkdir o && ln -s ../victim o/link-0000.png && "
        + "\"$ZOETROPE\" extract link.gif -o o 2>err"
      #expect(try tool.shell(script) == 4)
      #expect(try tool.shell("test -e victim") == 1)
      // Forced, the link itself gives way.
      #expect(try tool.shell("\"$ZOETROPE\" extract link.gif -o o --force") == 0)
      #expect(try tool.shell("test -e victim || test -L o/link-0000.png") == 1)
    }
  }

  @Test(arguments: [
    #"$'\xff\xfe.gif'"#, #"'-rf.gif'"#, #"$'a\nb\e[31m.gif'"#, #"'....gif'"#, #"'%s{stem}.gif'"#,
  ])
  func `a hostile name stays one file in its folder`(name: String) throws {
    try withTool { (tool: Tool) throws in
      let script =
        "mkdir in && cp cat.gif in/\(name) && mkdir -p a/b && "
        + "\"$ZOETROPE\" extract in/\(name) -o a/b/ && test $(find a/b -type f | wc -l) = 3 "
        + "&& test $(find . -newer cat.gif -name '*.png' | wc -l) = 3"
      try tool.write(Array(script.utf8), to: "script")
      #expect(try tool.shell("export ZOETROPE; bash script") == 0)
    }
  }

  @Test func `an output folder that cannot be written is status 4`() throws {
    try withTool { (tool: Tool) throws in
      // Root ignores permissions, but not a file in place of the folder.
      let code = try tool.shell("touch o && \"$ZOETROPE\" extract cat.gif -o o/ 2>err")
      #expect(code == 4)
      let proc = try tool.shell("\"$ZOETROPE\" extract cat.gif -o /proc/ 2>err")
      #expect(proc == 4)
    }
  }

  @Test func `without descriptors to spare it says so`() throws {
    try withTool { (tool: Tool) throws in
      // One descriptor is left: the file takes it, and there is none to write with.
      let script = "(ulimit -n 4; exec \"$ZOETROPE\" extract cat.gif -o o) 2>err"
      #expect(try tool.shell("mkdir o && " + script) == 4)
      #expect(try tool.shell("test -z \"$(ls -A o)\"") == 0)
      let text = String(decoding: try tool.read("err"), as: UTF8.self)
      #expect(text.contains("open files"))
    }
  }

  @Test func `a file that shrinks after it was opened gives an error or fewer frames`() throws {
    try withTool { (tool: Tool) throws in
      let path = FilePath("\(tool.directory)/cat.gif")
      let image = try AnimatedImage(contentsOf: path)
      let file = try FileDescriptor.open(path, .writeOnly)
      try file.resize(to: 30)
      try file.close()
      let reader = FrameReader(image)
      var damaged = 0
      while let frame = try reader.next() { damaged += frame.damage == nil ? 0 : 1 }
      #expect(damaged == image.frames.count)
    }
  }

  /// 64 megapixels in 35 bytes, under limits on the memory that they take.
  @Test(.boundsMemory, arguments: [100_000, 310_000, 350_000])
  func `a canvas that does not fit in memory is refused by name`(kibibytes: Int) throws {
    try withTool { (tool: Tool) throws in
      let side: [UInt8] = [0x00, 0x20]
      let head = Array("GIF89a".utf8) + side + side + [0x80, 0, 0, 0, 0, 0, 255, 255, 255]
      let frame: [UInt8] = [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x4c, 1, 0, 0x3b]
      try tool.write(head + frame, to: "huge.gif")
      let script =
        "(ulimit -v \(kibibytes); exec timeout 120 \"$ZOETROPE\" still huge.gif -o o.png) 2>err"
      let status = try tool.shell(script)
      let errors = String(decoding: try tool.read("err"), as: UTF8.self)
      // 256 MiB for the canvas, and for the encoder some more, as far as there is.
      #expect(status == (kibibytes < 280_000 ? 5 : 4) || (status == 0 && kibibytes > 280_000))
      #expect(status == 0 || errors.contains("cannot allocate"))
    }
  }
}

extension Trait where Self == ConditionTrait {
  /// For tests that bound the address space of the tool: not under a sanitizer, whose shadow memory
  /// alone is larger.
  fileprivate static var boundsMemory: Self {
    #if SANITIZE_ADDRESS || SANITIZE_THREAD
      .disabled("a sanitizer's shadow memory is larger than the bound")
    #else
      .enabled { true }
    #endif
  }
}
