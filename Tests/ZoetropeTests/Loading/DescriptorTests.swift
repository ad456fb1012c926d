import Foundation
import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

/// A loader in a process that may open few files, or hold little memory.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct DescriptorTests {
  /// Runs `table-churn` with `arguments` in a shell after `prefix`; what it prints.
  private func run(_ prefix: String, _ arguments: String) throws -> (status: Int32, output: String)
  {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", "\(prefix); exec '\(StoreProcessTests.program)' \(arguments)"]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }

  @Test func `with 12 descriptors, a store's tables give way to each other`() throws {
    let scratch = try ScratchDirectory()
    let (status, output) = try run("ulimit -n 12", "\(scratch.path)/store 0 1 maps")
    #expect(status == 0 && output == "mapped 24\n", "\(output)")
  }

  @Test func `without a free descriptor, a store's tables give way to a file that is written`()
    throws
  {
    let scratch = try ScratchDirectory()
    let (status, output) = try run("ulimit -n 32", "\(scratch.path)/store 0 1 writes")
    #expect(status == 0 && output == "wrote 1\n", "\(output)")
  }

  /// Loads eight at a time, and opens all at the same time.
  @Test(arguments: ["8 1000000 load", "9999 1000000 open"])
  func `with 48 descriptors, 362 files are loaded or opened, and again`(work: String) throws {
    let scratch = try ScratchDirectory()
    for number in 0..<362 {
      let bytes = DeltaGIF.make(
        width: 8 + number % 19, height: 8 + number / 19, frameCount: 2, patch: 4)
      try Data(bytes).write(to: URL(filePath: scratch.path.appending("\(number).gif").string))
    }
    let (status, output) = try run("ulimit -n 48", "\(scratch.path) \(work)")
    #expect(status == 0)
    #expect(output.hasPrefix("loaded 724, failed [:]"), "\(output)")
  }
}
