import Foundation
import SystemPackage
import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeCore
@testable import ZoetropeFrames

/// What the library asks of the system beyond reading and writing.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct SystemTests {
  @Test(.enabled(if: hasUnnamedFiles))
  func `the file of a stream never has a name`() throws {
    let scratch = try ScratchDirectory()
    let received = ReceivedBytes(memoryLimit: 0, byteLimit: 1 << 20, directory: scratch.path)
    try received.append([1, 2, 3])
    var names: [String] = []
    for name in try FileSystem.names(in: "/proc/self/fd") {
      let path = FileSystem.destination(ofLink: FilePath("/proc/self/fd").appending(name))
      guard let path, path.string.hasPrefix(scratch.path.string + "/") else { continue }
      names.append(path.lastComponent?.string ?? "")
    }
    // A file that was created with a name and then removed would still show that name.
    #expect(names.count == 1 && names.allSatisfy { $0.hasPrefix("#") }, "\(names)")
    var buffer = ReadBuffer()
    let found = try ReceivedSource(received).withBytes(in: 0..<9, buffer: &buffer) { span in
      (0..<span.byteCount).map { span[$0] }
    }
    #expect(found == [1, 2, 3])
  }

  private static var hasUnnamedFiles: Bool {
    (try? FileDescriptor.unnamed(in: "/tmp").close()) != nil
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/taskset")))
  func `only the processors that a process may use are counted`() throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/taskset")
    // The last one, as any set of one processor may be refused here.
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let lines = status.split(separator: "\n")
    let allowed = try #require(lines.first { $0.hasPrefix("Cpus_allowed_list:") })
    let last = try #require(allowed.split(whereSeparator: { !$0.isNumber }).last)
    process.arguments =
      ["-c", String(last), StoreProcessTests.program, "/tmp", "0", "0", "threads"]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(String(decoding: output, as: UTF8.self) == "1\n")
  }

  // In a process of its own, since all canvases of a process share the memory.
  @Test(.enabled(if: PixelMemory.minimumByteCount < .max))
  func `memory that waits for the next frame goes when the budget shrinks`() throws {
    let process = Process()
    process.executableURL = URL(filePath: StoreProcessTests.program)
    process.arguments = ["/tmp", "0", "0", "pool"]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(String(decoding: output, as: UTF8.self) == "[3, 2, 0]\n")
  }
}
