import Glibc
import TestRunning
import Testing

/// However and whenever playing ends, the terminal is as it was found.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct PlayerEndingTests {
  enum Moment: CaseIterable {
    case probing, entering, playing, paused

    /// Plays on up to this moment.
    func reach(_ terminal: Pseudoterminal) -> Bool {
      switch self {
      case .probing: return terminal.waitFor("\u{1B}[c")
      case .entering: return terminal.waitFor("\u{1B}[?1049h")
      case .playing: return terminal.waitToShow("cat.gif 6x4 GIF")
      case .paused:
        guard terminal.waitToShow("cat.gif 6x4 GIF") else { return false }
        terminal.type(" ")
        return terminal.waitToShow("‖")
      }
    }
  }

  private func withPlayer(
    _ arguments: [String] = [], answers: TerminalModel.Answers = .modern, blocking: [Int32] = [],
    gif: [UInt8] = SampleGIF().bytes, _ body: (Pseudoterminal) throws -> Void
  ) throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(gif, to: "cat.gif")
    var model = TerminalModel()
    model.answers = answers
    let terminal = try Pseudoterminal(
      Tool.program, ["play", "\(tool.directory)/cat.gif"] + arguments, model: model,
      blocking: blocking)
    try body(terminal)
  }

  private func expectRestored(_ terminal: Pseudoterminal, status: Int32) {
    #expect(terminal.end() == status)
    #expect(terminal.isRestored)
    #expect(terminal.model.state == TerminalState())
  }

  @Test(
    arguments: [("q", 0), ("\u{1B}", 0), ("\u{3}", 130), ("  ..,r]fvi?xq", 0)] as [(String, Int32)],
    Moment.allCases)
  func `keys end it`(_ keys: (String, Int32), _ moment: Moment) throws {
    // A terminal that answers at once leaves no time to type during the probe.
    try withPlayer(answers: moment == .probing ? .none : .modern) { terminal in
      try #require(moment.reach(terminal))
      #expect(!terminal.isRestored)
      terminal.type(keys.0)
      expectRestored(terminal, status: keys.1)
    }
  }

  /// The first picture has millions of pixels.
  @Test(arguments: [("q", 0), ("  \u{3}", 130), (" .q", 0), ("\u{1B}", 0)] as [(String, Int32)])
  func `keys end it while a large picture is encoded`(_ keys: (String, Int32)) throws {
    let gif = SampleGIF(width: 250, height: 250, frames: [(0, 4), (1, 4)], isMixed: true)
    let session = try PlayerSession(
      ["--protocol", "sixel"], files: ["cat.gif": gif.bytes], columns: 300, rows: 100)
    defer { session.tool.cleanUp() }
    try #require(session.terminal.waitFor("\u{1B}[?1049h"))
    session.terminal.type(keys.0)
    expectRestored(session.terminal, status: keys.1)
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT], Moment.allCases)
  func `signals end it`(_ number: Int32, _ moment: Moment) throws {
    try withPlayer(answers: moment == .probing ? .none : .modern) { terminal in
      try #require(moment.reach(terminal))
      terminal.send(number)
      expectRestored(terminal, status: 128 + number)
    }
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
  func `signals that the parent blocked end it`(_ number: Int32) throws {
    try withPlayer(blocking: [SIGINT, SIGTERM, SIGHUP, SIGQUIT]) { terminal in
      try #require(Moment.playing.reach(terminal))
      terminal.send(number)
      expectRestored(terminal, status: 128 + number)
    }
  }

  @Test(
    arguments: [SIGSEGV, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE], [Moment.probing, .playing])
  func `fatal signals give the terminal back and then take effect`(
    _ number: Int32, _ moment: Moment
  ) throws {
    try withPlayer(answers: moment == .probing ? .none : .modern) { terminal in
      try #require(moment.reach(terminal))
      terminal.send(number)
      expectRestored(terminal, status: 128 + number)
    }
  }

  /// A `poll` that calls itself until the stack is full, once playing is under way.
  private static let overflow = """
    #define _GNU_SOURCE
    #include <poll.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    static int deeper(volatile char *outer) {
      volatile char frame[4096];
      frame[0] = outer[0] + 1;
      return deeper(frame) + frame[0];
    }
    int poll(struct pollfd *files, nfds_t count, int time) {
      static int calls;
      if (getpid() == syscall(SYS_gettid) && ++calls == 20) return deeper((volatile char *)files);
      struct timespec limit = {time / 1000, time % 1000 * 1000000L};
      return syscall(SYS_ppoll, files, count, time < 0 ? 0 : &limit, 0, 0);
    }
    """

  @Test(.enabled(if: unsafe system("which clang >/dev/null 2>&1") == 0, "needs clang"))
  func `a stack overflow restores the terminal`() throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(SampleGIF().bytes, to: "cat.gif")
    try tool.write(Array(Self.overflow.utf8), to: "overflow.c")
    try #require(
      try tool.shell("clang -O0 -w -shared -fPIC -o overflow.so overflow.c") == 0)
    let terminal = try Pseudoterminal(
      Tool.program, ["play", "cat.gif"],
      environment: ["TERM=xterm-256color", "LD_PRELOAD=\(tool.directory)/overflow.so"],
      directory: tool.directory)
    #expect(terminal.waitFor("\u{1B}[?1049h"))
    expectRestored(terminal, status: 128 + SIGSEGV)
  }

  @Test func `images are deleted`() throws {
    try withPlayer { terminal in
      try #require(terminal.wait { !terminal.model.state.images.isEmpty })
      terminal.type("q")
      expectRestored(terminal, status: 0)
    }
  }

  @Test func `a terminal that goes away ends it`() throws {
    try withPlayer { terminal in
      try #require(Moment.playing.reach(terminal))
      terminal.hangUp()
      #expect(terminal.end() == 129)
    }
  }

  @Test func `a frame that cannot be decoded ends it`() throws {
    var gif = SampleGIF().bytes
    // The last frame's first pixel code becomes one that its table does not have yet.
    let code = try #require(gif.lastIndex(of: 0x80))
    gif[code + 1] = 0xFF
    try withPlayer(["--damage", "strict"], gif: gif) { terminal in
      expectRestored(terminal, status: 6)
      #expect(terminal.model.screen.contains("zoetrope: "))
    }
  }

  @Test func `the last play ends it when asked`() throws {
    try withPlayer(["--once"]) { expectRestored($0, status: 0) }
  }

  @Test func `the time given ends it`() throws {
    try withPlayer(["--duration", "0.1"]) { expectRestored($0, status: 0) }
  }

  @Test func `one frame stays in the text`() throws {
    try withPlayer(["--frame", "1"]) { terminal in
      #expect(terminal.end() == 0)
      #expect(terminal.isRestored)
      #expect(!terminal.has("\u{1B}[?1049h"))
    }
  }
}
