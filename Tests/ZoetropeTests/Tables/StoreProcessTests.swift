import Foundation
import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

/// Several processes at one store. `table-churn` checks every pixel that it is given.
@Suite(.timeLimit(.minutes(10)), .startsThreads) struct StoreProcessTests {
  static let program: String = {
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

  /// Each handler of this process, each cause, while the store is open and after.
  private static let signals = ["host", "once", "default"].flatMap { handler in
    ["sent-open", "sent-closed", "fault-open", "fault-closed"].map { (handler, $0) }
  }

  /// Only while the store is open. The thread sanitizer calls handlers of its own accord, never nested, and
  /// gives what it calls an empty mask.
  private static let openSignals: [(String, String)] = {
    #if SANITIZE_THREAD
      let handlers = ["nested"]
    #else
      let handlers = ["nested", "masked"]
    #endif
    return handlers.flatMap { [($0, "sent-open"), ($0, "fault-open")] }
  }()

  @Test(arguments: signals + openSignals)
  func `a SIGBUS that is not the store's goes where it went before`(
    handler: String, cause: String
  ) throws {
    let scratch = try ScratchDirectory()
    let process = try start(
      scratch.path.appending("store").string, "0", "0", "guard-\(handler)-\(cause)")
    process.waitUntilExit()
    if ["host", "nested", "masked"].contains(handler) {
      #expect(process.terminationReason == .exit)
      #expect(process.terminationStatus == 42)
    } else {
      #expect(process.terminationReason == .uncaughtSignal)
      #expect(process.terminationStatus == SIGBUS)
    }
  }

  /// Runs the program after the shell's command `mount`, which may mount a file system at `DIR`.
  private func run(
    mounting mount: String, _ arguments: String, scratch: ScratchDirectory? = nil
  ) throws -> (status: Int32, text: String) {
    let scratch = try scratch ?? ScratchDirectory()
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: "/bin/sh")
    let script = mount.replacing("DIR", with: scratch.path.string)
    let command = "\(script) && exec \(Self.program) \(scratch.path)/store \(arguments)"
    process.arguments = [
      "-c",
      mount.contains("mount")
        ? "exec unshare -m sh -c 'mount --make-rprivate / && \(command)'" : command,
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

  @Test(.enabled(if: mayMount, "needs permission to mount"))
  func `a store on a read-only file system shows what it has`() throws {
    let scratch = try ScratchDirectory()
    let store = scratch.path.appending("store")
    let writer = try start(store.string, "1", "0")
    writer.waitUntilExit()
    let found = try run(
      mounting: "mount --bind \(scratch.path) DIR && mount -o remount,ro,bind DIR", "3 0 check")
    #expect(found.status == 0, "\(found.text)")
    #expect(try #require(Int(found.text.filter { $0 != "\n" })) > 10)
    // A reader that would store what it misses.
    let reader = try run(
      mounting: "mount --bind \(scratch.path) DIR && mount -o remount,ro,bind DIR",
      "3 0 readers")
    #expect(reader.status == 0 && !reader.text.contains("found 0"), "\(reader.text)")
  }

  @Test func `a limit on the size of files is an error, not a signal`() throws {
    let scratch = try ScratchDirectory()
    // Below the size of a table. Above the 512 KiB of a file that the thread sanitizer writes when a
    // program starts.
    let limit = "prlimit --pid $$ --fsize=\(3 << 18)"
    let (status, text) = try run(mounting: limit, "3 0", scratch: scratch)
    #expect(status == 0, "\(text)")
    #expect(text.contains("kept 0,") && !text.contains("refused 0"), "\(text)")
    // A table that is there already, larger than this process may write.
    let store = try FrameStore(at: scratch.path.appending("store"), byteLimit: 1 << 20)
    let size = PixelSize(width: 40, height: 30)
    for index in 0..<40 {
      let key = makeAnimation(9, width: 40, height: 30)[index]
      try store.store(CachedFrame(makePixels(size, seed: index)), for: key)
    }
    let second = try run(mounting: limit, "3 0", scratch: scratch)
    #expect(second.status == 0, "\(second.text)")
  }

  /// Not under a sanitizer, whose shadow memory is larger than the limit.
  private static var mayLimitAddresses: Bool {
    #if SANITIZE_ADDRESS || SANITIZE_THREAD
      false
    #else
      true
    #endif
  }

  @Test(.enabled(if: mayLimitAddresses))
  func `where addresses are limited, tables give way to each other`() throws {
    // Each maps 128 MiB, and 16 would be kept.
    let (status, text) = try run(mounting: "prlimit --pid $$ --as=\(1 << 30)", "0 64 maps")
    #expect(status == 0 && text == "mapped 24\n", "\(text)")
  }

  #if DEBUG
    @Test(.computes) func `a writer may end before any system call`() throws {
      let scratch = try ScratchDirectory()
      let directory = scratch.path.appending("store").string
      // Opening takes some 20 calls, storing a frame 8; then it stops at places farther apart.
      let places = Array(0..<48) + (0..<12).map { 60 + $0 * 41 }
      for place in places {
        let writer = try start(directory, "\(place)", "600", "stop:\(place)")
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
    var random = SplitMix64(seed: 136)
    for round in 0..<40 {
      let writer = try start(directory, "\(round)", "600")
      usleep(UInt32.random(in: 3_000...40_000, using: &random))
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
