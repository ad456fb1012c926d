import Glibc
import SystemPackage
import Zoetrope

/// A pipe with a name that the test feeds piece by piece.
final class FedPipe {
  let path: String
  private var writer: Int32

  init(in tool: Tool, named name: String = "pipe") throws {
    path = "\(tool.directory)/\(name)"
    guard unsafe mkfifo(path, 0o600) == 0 else { throw Errno(rawValue: errno) }
    // Open for reading too, so that neither end waits for the other.
    writer = unsafe open(path, O_RDWR | O_CLOEXEC)
    guard writer >= 0 else { throw Errno(rawValue: errno) }
  }

  deinit { finish() }

  /// Writes a piece that the pipe has room for.
  func feed(_ bytes: some Sequence<UInt8>) {
    let bytes = Array(bytes)
    _ = unsafe write(writer, bytes, bytes.count)
  }

  /// Ends the input.
  func finish() {
    if writer >= 0 { close(writer) }
    writer = -1
  }
}

/// The tool while its standard input is a ``FedPipe``; what it writes goes to files.
final class FedTool {
  let tool: Tool
  let pipe: FedPipe
  private var process = pid_t()

  convenience init(_ tool: Tool, _ arguments: String...) throws { try self.init(tool, arguments) }

  init(_ tool: Tool, _ arguments: [String], environment: [String] = []) throws {
    self.tool = tool
    pipe = try FedPipe(in: tool)
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    let create = O_WRONLY | O_CREAT | O_TRUNC
    unsafe posix_spawn_file_actions_addopen(&actions, 0, pipe.path, O_RDONLY, 0)
    unsafe posix_spawn_file_actions_addopen(&actions, 1, "\(tool.directory)/out", create, 0o600)
    unsafe posix_spawn_file_actions_addopen(&actions, 2, "\(tool.directory)/err", create, 0o600)
    // The threads that run tests block signals, and a mask is inherited; the tool unblocks what it needs.
    let command = ["/usr/bin/env", "-C", tool.directory] + environment + [Tool.program] + arguments
    var pointers = unsafe command.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    let result = unsafe posix_spawn(&process, command[0], &actions, nil, &pointers, environ)
    guard result == 0 else { throw Errno(rawValue: result) }
  }

  deinit {
    guard process > 0 else { return }
    kill(process, SIGKILL)
    _ = waitpid(process, nil, 0)
  }

  /// Waits until `isDone`; false if that takes more than two minutes.
  func wait(_ isDone: () -> Bool) -> Bool {
    let deadline = ContinuousClock.now + .seconds(120)
    while !isDone() {
      if ContinuousClock.now > deadline { return false }
      _ = poll(nil, 0, 2)
    }
    return true
  }

  /// What it has written to standard output.
  var output: [UInt8] { (try? tool.read("out")) ?? [] }

  /// The whole lines of JSON that it has written to standard output.
  func lines() throws -> [JSONLine] {
    let output = output
    guard let end = output.lastIndex(of: 0x0a) else { return [] }
    return try JSONLine.all(Array(output[...end]))
  }

  var errors: String { String(decoding: (try? tool.read("err")) ?? [], as: UTF8.self) }

  /// The names in `directory`; none while that does not exist.
  ///
  /// Leaves out the temporary name that a file still has for a moment after it was linked to its final one.
  func list(_ directory: String) -> [String] {
    ((try? tool.list(directory)) ?? []).filter { !$0.hasPrefix(".") }
  }

  func send(_ number: Int32) { kill(process, number) }

  /// Waits for the tool to end; returns its status, or 128 plus the number of the signal that ended it. Nil when it
  /// does not end.
  func end() -> Int32? {
    var status: Int32 = 0
    guard wait({ unsafe waitpid(process, &status, WNOHANG) == process }) else { return nil }
    process = -1
    return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
  }

  /// Ends the input and waits for the end.
  func finish() -> Int32? {
    pipe.finish()
    return end()
  }
}

extension SampleGIF {
  /// The bytes in pieces: each but the last ends with a frame, the last is what follows.
  var pieces: [ArraySlice<UInt8>] {
    let all = bytes
    let ends = ((try? AnimatedImage(bytes: all))?.frames ?? []).map(\.byteRange.upperBound)
    return zip([0] + ends, ends + [all.count]).map { all[$0..<$1] }
  }
}
