import Foundation
import SystemPackage
import Testing
import Zoetrope

/// Several processes at one store. `table-churn` checks every pixel that it is given.
@Suite(.serialized, .timeLimit(.minutes(2))) struct StoreProcessTests {
  private static let program: String = {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count - 1)
    let path = String(
      decoding: buffer[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return FilePath(path).removingLastComponent().appending("table-churn").string
  }()

  private func start(_ arguments: String...) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: Self.program)
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    return process
  }

  @Test func `eight processes, readers and writers, see no torn frame`() throws {
    let scratch = try ScratchDirectory()
    let directory = scratch.path.appending("store").string
    var processes: [Process] = []
    for number in 0..<8 {
      processes.append(
        number < 5
          ? try start(directory, "\(number)", "2")
          : try start(directory, "\(number)", "2", "readers"))
    }
    for process in processes {
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
    }
    let store = try FrameStore(at: FilePath(directory))
    #expect(try store.verify().dropped == 0)
    #expect(store.statistics.byteCount <= (1 << 20) + 8 * 12288)
  }

  @Test func `writers that are killed leave no wrong frame behind`() throws {
    let scratch = try ScratchDirectory()
    let directory = scratch.path.appending("store").string
    let reader = try start(directory, "1000", "4", "readers")
    for round in 0..<60 {
      let writer = try start(directory, "\(round)", "20")
      usleep(UInt32.random(in: 3_000...40_000))
      kill(writer.processIdentifier, SIGKILL)
      writer.waitUntilExit()
      #expect(writer.terminationReason == .uncaughtSignal, "round \(round)")
    }
    reader.waitUntilExit()
    #expect(reader.terminationStatus == 0)
    let checker = try start(directory, "7", "0.5")
    checker.waitUntilExit()
    #expect(checker.terminationStatus == 0)
  }
}
