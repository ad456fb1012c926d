import Glibc
import TestRunning
import Testing

/// A silent pipe does not keep a command from ending.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct InterruptedReadingTests {
  @Test(arguments: ["info", "check", "play"], [SIGINT, SIGTERM])
  func `the first signal ends the wait`(_ command: String, _ number: Int32) throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    // Held open for writing by the test: a reader would wait for ever.
    let path = "\(tool.directory)/pipe"
    try #require(unsafe mkfifo(path, 0o600) == 0)
    let writer = unsafe open(path, O_RDWR | O_CLOEXEC)
    defer { close(writer) }
    let terminal = try Pseudoterminal(Tool.program, [command, path])
    // The tool is reading the pipe once it has taken these bytes.
    _ = unsafe write(writer, "GIF89a", 6)
    var count: Int32 = 6
    try #require(terminal.wait { unsafe ioctl(writer, UInt(FIONREAD), &count) == 0 && count == 0 })
    terminal.send(number)
    #expect(terminal.end() == 128 + number)
  }
}
