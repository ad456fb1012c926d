import Foundation
import SystemPackage
import TestRunning
import Testing
import Zoetrope

/// Several processes at one store. `table-churn` checks every pixel that it is given.
@Suite(.timeLimit(.minutes(2)), .startsThreads) struct StoreProcessTests {
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
    // The handler of Swift's backtraces swallows signals that were sent; those of the sanitizers turn
    // a SIGBUS into an exit.
    process.environment = ProcessInfo.processInfo.environment.merging([
      "SWIFT_BACKTRACE": "enable=no", "TSAN_OPTIONS": "handle_sigbus=0",
      "ASAN_OPTIONS": "handle_sigbus=0",
    ]) { $1 }
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
          ? try start(directory, "\(number)", "1")
          : try start(directory, "\(number)", "1", "readers"))
    }
    for process in processes {
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
    }
    let store = try FrameStore(at: FilePath(directory))
    #expect(try store.verify().dropped == 0)
    #expect(store.statistics.byteCount <= (1 << 20) + 8 * 12288)
  }

  @Test(arguments: ["guard-host", "guard-host-closed", "guard", "guard-closed"])
  func `a SIGBUS that is not the store's goes where it went before`(mode: String) throws {
    let scratch = try ScratchDirectory()
    let process = try start(scratch.path.appending("store").string, "0", "0", mode)
    process.waitUntilExit()
    if mode.contains("host") {
      #expect(process.terminationReason == .exit)
      #expect(process.terminationStatus == 42)
    } else {
      #expect(process.terminationReason == .uncaughtSignal)
      #expect(process.terminationStatus == SIGBUS)
    }
  }

  /// Runs the program in a file system of its own, which `mount` makes at `DIR`.
  private func run(mounting mount: String, _ arguments: String) throws -> (
    status: Int32, text: String
  ) {
    let scratch = try ScratchDirectory()
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: "/bin/sh")
    let script = mount.replacing("DIR", with: scratch.path.string)
    process.arguments = [
      "-c",
      "exec unshare -m sh -c 'mount --make-rprivate / && \(script) && exec \(Self.program)"
        + " \(scratch.path)/store \(arguments)'",
    ]
    process.standardOutput = pipe
    try process.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }

  private static let mayMount: Bool = {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", "unshare -m mount -t tmpfs none /mnt 2>/dev/null"]
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }()

  @Test(.enabled(if: mayMount, "needs permission to mount"))
  func `on a full disk, frames are refused and those found are right`() throws {
    let (status, text) = try run(mounting: "mount -t tmpfs -o size=160k none DIR", "3 1")
    #expect(status == 0, "\(text)")
    #expect(text.contains("found") && !text.contains("refused 0"), "\(text)")
  }

  @Test(.enabled(if: mayMount, "needs permission to mount"))
  func `a directory on a read-only file system is refused by name`() throws {
    let (status, text) = try run(
      mounting: "mount -t tmpfs none DIR && mkdir -m 700 DIR/store && mount -o remount,ro DIR",
      "3 1")
    #expect(status == 3)
    #expect(text.contains("storeDenied"), "\(text)")
  }

  #if DEBUG
    @Test func `a writer may end before any system call`() throws {
      let scratch = try ScratchDirectory()
      let directory = scratch.path.appending("store").string
      // Opening takes some 20 calls, storing a frame 8; then it stops at places farther apart.
      let places = Array(0..<48) + (0..<12).map { 60 + $0 * 41 }
      for place in places {
        let writer = try start(directory, "\(place)", "20", "stop:\(place)")
        writer.waitUntilExit()
        #expect(writer.terminationReason == .uncaughtSignal, "call \(place)")
        let store = try FrameStore(at: FilePath(directory))
        #expect(try store.verify().dropped == 0, "call \(place)")
      }
      let checker = try start(directory, "7", "0.2")
      checker.waitUntilExit()
      #expect(checker.terminationStatus == 0)
    }
  #endif

  @Test func `writers that are killed leave no wrong frame behind`() throws {
    let scratch = try ScratchDirectory()
    let directory = scratch.path.appending("store").string
    let reader = try start(directory, "1000", "2", "readers")
    for round in 0..<40 {
      let writer = try start(directory, "\(round)", "20")
      usleep(UInt32.random(in: 3_000...40_000))
      kill(writer.processIdentifier, SIGKILL)
      writer.waitUntilExit()
      #expect(writer.terminationReason == .uncaughtSignal, "round \(round)")
    }
    reader.waitUntilExit()
    #expect(reader.terminationStatus == 0)
    let checker = try start(directory, "7", "0.2")
    checker.waitUntilExit()
    #expect(checker.terminationStatus == 0)
  }
}
