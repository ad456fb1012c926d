import Glibc
import SystemPackage

/// Runs the built `zoetrope` in a scratch directory of its own.
struct Tool {
  struct Outcome {
    let status: Int32
    let output: [UInt8]
    let errors: String
    var text: String { String(decoding: output, as: UTF8.self) }
  }

  let directory: String

  init() throws {
    var template = Array("/tmp/zoetrope-test-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
    directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  static let program = program(named: "zoetrope")

  /// Programs of the package lie beside the one that runs the tests.
  static func program(named name: String) -> String {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count - 1)
    let path = String(
      decoding: buffer[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return FilePath(path).removingLastComponent().appending(name).string
  }

  /// Runs it to its end with `input` on standard input.
  func run(_ arguments: String..., input: [UInt8] = []) throws -> Outcome {
    try run(arguments, input: input)
  }

  /// Like ``run(_:input:)-(String...,_)``.
  func run(_ arguments: [String], input: [UInt8] = []) throws -> Outcome {
    try write(input, to: ".stdin")
    // `env -C` sets the directory: glibc's own call for it is not visible to Swift.
    let status = try Self.wait(
      for: ["/usr/bin/env", "-C", directory, Self.program] + arguments, filesIn: directory)
    return Outcome(
      status: status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f,
      output: try read(".stdout"), errors: String(decoding: try read(".stderr"), as: UTF8.self))
  }

  /// Runs a shell command in the directory, with `$ZOETROPE` set to the tool.
  func shell(_ script: String) throws -> Int32 {
    try wait(forScript: script) >> 8 & 0xff
  }

  /// The signal that ended a shell command, which `exec` hands to the tool; 0 for an exit.
  func endingSignal(of script: String) throws -> Int32 {
    try wait(forScript: script) & 0x7f
  }

  private func wait(forScript script: String) throws -> Int32 {
    let line = "cd '\(directory)' && ZOETROPE='\(Self.program)' && \(script)"
    return try Self.wait(for: ["/bin/sh", "-c", line])
  }

  /// Runs a command to its end; returns its wait status. The standard streams are this process's, or hidden files in a
  /// directory.
  ///
  /// Does not use `system`, which makes this whole process ignore SIGINT and SIGQUIT until the command ends: programs
  /// that other threads start meanwhile would ignore them as well.
  private static func wait(for command: [String], filesIn directory: String? = nil) throws -> Int32
  {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    if let directory {
      let create = O_WRONLY | O_CREAT | O_TRUNC
      unsafe posix_spawn_file_actions_addopen(&actions, 0, "\(directory)/.stdin", O_RDONLY, 0)
      unsafe posix_spawn_file_actions_addopen(&actions, 1, "\(directory)/.stdout", create, 0o600)
      unsafe posix_spawn_file_actions_addopen(&actions, 2, "\(directory)/.stderr", create, 0o600)
    }
    var process = pid_t()
    var pointers = unsafe command.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    let result = unsafe posix_spawn(&process, command[0], &actions, nil, &pointers, environ)
    guard result == 0 else { throw Errno(rawValue: result) }
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) == -1, errno == EINTR {}
    return status
  }

  func write(_ bytes: [UInt8], to name: String) throws {
    let file = try FileDescriptor.open(
      FilePath("\(directory)/\(name)"), .writeOnly, options: [.create, .truncate],
      permissions: [.ownerReadWrite])
    try file.closeAfter { _ = try file.writeAll(bytes) }
  }

  func read(_ name: String) throws -> [UInt8] {
    let file = try FileDescriptor.open(FilePath("\(directory)/\(name)"), .readOnly)
    return try file.closeAfter {
      var bytes: [UInt8] = []
      var block = [UInt8](repeating: 0, count: 65536)
      while true {
        let count = try unsafe block.withUnsafeMutableBytes { unsafe try file.read(into: $0) }
        if count == 0 { return bytes }
        bytes += block[..<count]
      }
    }
  }

  /// The names of the files in the directory `name`, hidden ones of the tests left out.
  func list(_ name: String = ".") throws -> [String] {
    guard let stream = unsafe opendir("\(directory)/\(name)") else { throw Errno(rawValue: errno) }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let text = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
          unsafe String(cString: $0)
        }
      }
      if ![".", "..", ".stdin", ".stdout", ".stderr"].contains(text) { names.append(text) }
    }
    return names.sorted()
  }

  /// Removes the directory.
  func cleanUp() { _ = try? Self.wait(for: ["/bin/rm", "-rf", directory]) }
}
