import Glibc
import Synchronization
import SystemPackage
import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeProcess

/// Signals that come while an input is being opened: the first one ends the tool.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct OpeningSignalTests {
  private static let commands = [
    "info", "check", "extract -o o/", "still -o s.png", "play --protocol none", "play",
  ]

  /// 124 is what `timeout` gives when its first signal was enough, 137 when it had to kill.
  @Test(arguments: commands, ["INT", "TERM"])
  func `a pipe without a writer holds nothing up`(_ command: String, _ signal: String) throws {
    try withTool { (tool: Tool) throws in
      let status = try tool.shell(
        "mkfifo p && timeout -k 120 -s \(signal) 0.3 \"$ZOETROPE\" \(command) p >out 2>err")
      #expect(status == 124)
    }
  }

  @Test(arguments: commands)
  func `standard input that stays silent holds nothing up`(_ command: String) throws {
    try withTool { (tool: Tool) throws in
      let status = try tool.shell(
        "mkfifo p && timeout -k 120 -s INT 0.3 \"$ZOETROPE\" \(command) - 0<>p >out 2>err")
      #expect(status == 124)
    }
  }

  @Test(arguments: commands)
  func `a file system that does not answer holds nothing up`(_ command: String) throws {
    try withTool { (tool: Tool) throws in
      try tool.write(IOFaultTests.library.get(), to: "faults.so")
      let fed = try FedTool(
        tool, command.split(separator: " ").map(String.init) + ["cat.gif"],
        environment: [
          "ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0", "FAULT=stuck",
          "LD_PRELOAD=./faults.so",
        ])
      // It is in the call that never ends, which starts again after every signal handler.
      try #require(fed.wait { fed.errors == "stuck\n" })
      fed.send(SIGINT)
      #expect(fed.end() == 128 + SIGINT)
    }
  }

  @Test func `a signal that the parent ignores stays ignored`() throws {
    try withTool { (tool: Tool) throws in
      let script = """
        trap '' INT; mkfifo p; { (timeout 120 "$ZOETROPE" play cat.gif --protocol none --trace p \
        >out; echo $? >code) & } ; read -r first <p; kill -INT 0; wait; grep -qx 0 code
        """
      let inGroup = "setsid -w sh -c '\(script.replacing("'", with: "'\\''"))'"
      #expect(try tool.shell("export ZOETROPE; \(inGroup)") == 0)
    }
  }

  @Test func `a probe that is interrupted ends by the signal`() throws {
    // It waits for answers, which do not come.
    var model = TerminalModel()
    model.answers = .none
    let terminal = try Pseudoterminal(
      Tool.program, ["probe"], model: model,
      environment: ["TERM=xterm-256color", "ZOETROPE_TERMINAL_PATIENCE=100"])
    #expect(terminal.waitFor("\u{1b}["))
    terminal.send(SIGINT)
    #expect(terminal.end() == 128 + SIGINT)
    #expect(terminal.isRestored)
  }
}

/// Opening on a thread of its own, for callers that do not wait.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct InputOpeningTests {
  /// Counts calls of the callback, and lets a test wait for one.
  private final class Calls: Sendable {
    private let monitor = Monitor(0)
    func add() { monitor.update { $0 += 1 } }
    func waitForOne() { _ = monitor.wait { $0 > 0 ? $0 : nil } }
    var count: Int { monitor.update { $0 } }
  }

  @Test func `the image is there when the callback comes, once`() throws {
    try withTool { (tool: Tool) throws in
      let calls = Calls()
      let opening = InputOpening(InputFile("\(tool.directory)/cat.gif"), DecodingOptions()) {
        calls.add()
      }
      calls.waitForOne()
      #expect(try opening.take()?.get().frames.count == 3)
      #expect(opening.take() == nil)
      #expect(calls.count == 1)
    }
  }

  @Test func `a failure comes as the command tells it`() throws {
    let calls = Calls()
    let opening = InputOpening(InputFile("/nowhere/cat.gif"), DecodingOptions()) { calls.add() }
    calls.waitForOne()
    #expect(throws: CommandFailure.self) { _ = try opening.take()?.get() }
  }
}
