import Foundation
import Synchronization
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCore
@testable import ZoetropeWriting

/// Where the bytes go, and what is left of a writer however it ends.
@Suite(.timeLimit(.minutes(10)), .startsThreads) struct WriterEndingTests {
  private static let film: [Bitmap] = (0..<4).map { step in
    Pictures.make(30, 20) { x, y in
      RGBA(red: UInt8((x * 7 + step * 40) & 255), green: UInt8(y * 9), blue: UInt8(step))
    }
  }
  private static let delay = FrameDelay(numerator: 1, denominator: 25)

  private static func write(_ options: AnimationWriterOptions, to sink: some AnimationSink) throws {
    let writer = try AnimationWriter(options, to: sink)
    for picture in film { try writer.append(picture, delay: delay) }
    try writer.finish()
  }

  private static func expected() throws -> [UInt8] {
    let sink = MemorySink()
    try write(AnimationWriterOptions(), to: sink)
    return sink.bytes
  }

  private func inFolder(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "writer-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
  }

  private static func names(_ folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  // MARK: Files

  @Test func `a file is there when it is complete, and only then`() throws {
    try inFolder { folder in
      let path = FilePath(folder.appending(path: "a.png").path)
      let writer = try AnimationWriter(AnimationWriterOptions(), to: FileSink(path))
      for picture in Self.film {
        try writer.append(picture, delay: Self.delay)
        #expect(try !Self.names(folder).contains("a.png"))
      }
      try writer.finish()
      #expect(try Self.names(folder) == ["a.png"])
      #expect(try [UInt8](Data(contentsOf: folder.appending(path: "a.png"))) == Self.expected())
    }
  }

  @Test func `a file that is replaced passes its permissions on, and a link stays`() throws {
    try inFolder { folder in
      let (file, link) = (folder.appending(path: "a.png"), folder.appending(path: "b.png"))
      try Data([1]).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
      try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "a.png")
      try Self.write(AnimationWriterOptions(), to: FileSink(FilePath(link.path)))
      #expect(try Self.names(folder) == ["a.png", "b.png"])
      let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
      #expect(attributes[.posixPermissions] as? Int == 0o640)
      #expect(try [UInt8](Data(contentsOf: file)) == Self.expected())
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "a.png")
    }
  }

  @Test func `a file is not replaced unless that is wanted`() throws {
    try inFolder { folder in
      let file = folder.appending(path: "a.png")
      try Data([1]).write(to: file)
      let error = #expect(throws: AnimatedImageError.self) {
        try Self.write(
          AnimationWriterOptions(), to: FileSink(FilePath(file.path), replaces: false))
      }
      #expect(error?.code == .io && error?.systemError == .fileExists)
      #expect(try Data(contentsOf: file) == Data([1]))
      #expect(try Self.names(folder) == ["a.png"])
    }
  }

  @Test func `an animation can replace the file that it is read from`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "writer-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = FilePath(folder.appending(path: "a.png").path)
    try Self.write(AnimationWriterOptions(), to: FileSink(path))
    let image = try await AnimatedImage.open(path)
    try await image.write(to: FileSink(path))
    let copy = try await AnimatedImage.open(path)
    for index in 0..<4 { #expect(try await copy.bitmap(at: index) == Self.film[index]) }
  }

  // MARK: Sinks

  /// A sink that fails after some bytes, and counts its calls.
  private final class FailingSink: AnimationSink {
    struct Calls: Equatable {
      var bytes = 0
      var finished = 0
      var abandoned = 0
    }
    let calls = Mutex(Calls())
    let limit: Int
    let canPatch: Bool
    let failsAtEnd: Bool

    init(after limit: Int, canPatch: Bool = true, failsAtEnd: Bool = false) {
      self.limit = limit
      self.canPatch = canPatch
      self.failsAtEnd = failsAtEnd
    }

    func write(_ bytes: [UInt8]) throws(AnimatedImageError) {
      let count = calls.withLock { calls in
        calls.bytes += bytes.count
        return calls.bytes
      }
      if count > limit { throw AnimatedImageError(.io, "full") }
    }

    func patch(_ bytes: [UInt8], at offset: Int) {}
    func finish() throws(AnimatedImageError) {
      calls.withLock { $0.finished += 1 }
      if failsAtEnd { throw AnimatedImageError(.io, "no name") }
    }
    func abandon() { calls.withLock { $0.abandoned += 1 } }
  }

  @Test func `bytes for a sink that cannot be patched come at once if the count is known`() throws {
    let parts = Mutex<[[UInt8]]>([])
    let sink = CallbackSink { part in parts.withLock { $0.append(part) } }
    try Self.write(AnimationWriterOptions(frameCount: 4), to: sink)
    #expect(parts.withLock { $0.count } > 4)
    #expect(try parts.withLock { $0.flatMap { $0 } } == Self.expected())
  }

  @Test func `otherwise they come at the end`() throws {
    let parts = Mutex<[[UInt8]]>([])
    let writer = try AnimationWriter(
      AnimationWriterOptions(), to: CallbackSink { part in parts.withLock { $0.append(part) } })
    for picture in Self.film { try writer.append(picture, delay: Self.delay) }
    #expect(parts.withLock { $0.isEmpty })
    try writer.finish()
    #expect(try parts.withLock { $0.flatMap { $0 } } == Self.expected())
  }

  @Test func `a writer does not abandon a sink that fails at its end`() throws {
    let sink = FailingSink(after: .max, failsAtEnd: true)
    #expect(throws: AnimatedImageError.self) { try Self.write(AnimationWriterOptions(), to: sink) }
    #expect(sink.calls.withLock { ($0.finished, $0.abandoned) } == (1, 0))
  }

  @Test(arguments: [0, 60, 200, 1 << 20]) func `an error of the sink ends the writer`(limit: Int)
    throws
  {
    let sink = FailingSink(after: limit)
    let writer = try AnimationWriter(AnimationWriterOptions(), to: sink)
    var error: AnimatedImageError?
    do throws(AnimatedImageError) {
      for picture in Self.film { try writer.append(picture, delay: Self.delay) }
      try writer.finish()
    } catch let failure {
      error = failure
    }
    let calls = sink.calls.withLock { $0 }
    #expect(error?.code == (limit < 1 << 20 ? .io : nil))
    #expect(calls.finished + calls.abandoned == 1 && (calls.finished == 1) == (error == nil))
    if error != nil { #expect(throws: AnimatedImageError.self) { try writer.finish() } }
  }

  /// Every call that writes an image to a sink.
  enum Call: CaseIterable {
    case copying, rewriting, shrinking, planned, budget, writer, optimize

    func run(_ image: AnimatedImage, _ sink: some AnimationSink) async throws {
      let half = AnimationEdit.resize(TargetSize(width: 15, height: 10))
      switch self {
      case .copying: try await image.write([.reverse], to: sink)
      case .rewriting: try await image.write([half], options: .init(format: .apng), to: sink)
      case .shrinking: try await image.write([half], to: sink)
      case .planned: try await image.plan([.speed(2)]).write(to: sink)
      case .budget:
        try await image.write(
          [], options: EditOptions(budget: ByteBudget(byteLimit: 100_000)), to: sink)
      case .writer: try await image.write(to: sink)
      case .optimize: try await image.optimize(to: sink)
      }
    }
  }

  private static func image() throws -> AnimatedImage {
    let sink = MemorySink()
    try write(AnimationWriterOptions(format: .gif), to: sink)
    return try AnimatedImage(bytes: sink.bytes)
  }

  @Test(arguments: Call.allCases) func `a sink that fails at its end is not abandoned too`(
    call: Call
  ) async throws {
    let sink = FailingSink(after: .max, failsAtEnd: true)
    let image = try Self.image()
    let error = await #expect(throws: AnimatedImageError.self) { try await call.run(image, sink) }
    #expect(error?.code == .io)
    let calls = sink.calls.withLock { $0 }
    #expect((calls.finished, calls.abandoned) == (1, 0))
  }

  @Test(arguments: Call.allCases) func `a call whose task is already cancelled abandons its sink`(
    call: Call
  ) async throws {
    let (sink, image) = (FailingSink(after: .max), try Self.image())
    let plan = try await image.plan([])
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      if call == .planned {
        try await plan.write(to: sink)
      } else {
        try await call.run(image, sink)
      }
    }
    task.cancel()
    let error = await #expect(throws: AnimatedImageError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    let calls = sink.calls.withLock { $0 }
    #expect((calls.finished, calls.abandoned) == (0, 1))
  }

  @Test func `a sink is abandoned if nothing can be planned or surveyed for it`() async throws {
    let image = try Self.image()
    let planned = FailingSink(after: .max)
    let error = await #expect(throws: AnimatedImageError.self) {
      try await image.write([.frames(7..<9)], to: planned)
    }
    #expect(error?.code == .parameter)
    #expect(planned.calls.withLock { ($0.finished, $0.abandoned) } == (0, 1))
    let (surveyed, flag) = (FailingSink(after: .max), CancelFlag())
    flag.raise()
    #expect(throws: AnimatedImageError.self) {
      try image.write(to: surveyed, options: nil, flag: flag)
    }
    #expect(surveyed.calls.withLock { ($0.finished, $0.abandoned) } == (0, 1))
  }

  @Test func `the chunks of a sequence are the file`() async throws {
    let image = try AnimatedImage(bytes: Self.expected())
    var bytes: [UInt8] = []
    // Scheduling decides how many there are: what was written since the last one is one chunk.
    for try await chunk in image.encoded() {
      #expect(!chunk.isEmpty)
      bytes += chunk
    }
    let sink = MemorySink()
    try await image.write(to: sink)
    #expect(bytes == sink.bytes)
    let copy = try AnimatedImage(bytes: bytes)
    #expect(copy.frames.map(\.delay) == image.frames.map(\.delay))
  }

  @Test func `a sequence of frames becomes bytes too`() async throws {
    let frames = AsyncStream<WritableFrame> { stream in
      for picture in Self.film { stream.yield(WritableFrame(bitmap: picture, delay: Self.delay)) }
      stream.finish()
    }
    var bytes: [UInt8] = []
    for try await chunk in EncodedBytes(frames, options: AnimationWriterOptions()) {
      bytes += chunk
    }
    #expect(try bytes == Self.expected())
  }

  // MARK: Ends

  private static func descriptors() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
  }

  @Test func `writers that end in any way leave no file, and each sink ends once`() throws {
    try inFolder { folder in
      var random = SplitMix64(seed: 4)
      for round in 0..<300 {
        let path = FilePath(folder.appending(path: "\(round).png").path)
        let (kind, count) = (round % 4, Int.random(in: 0...4, using: &random))
        let failing = FailingSink(after: Int.random(in: 0..<400, using: &random))
        let options = AnimationWriterOptions(parallelism: 1 + round % 3)
        let file = FileSink(path)
        let writer =
          kind == 3
          ? try AnimationWriter(options, to: failing) : try AnimationWriter(options, to: file)
        do {
          for picture in Self.film.prefix(count) { try writer.append(picture, delay: Self.delay) }
          switch kind {
          case 0: try writer.finish()
          case 1: writer.cancel()
          default: break
          }
        } catch {
          #expect((error as? AnimatedImageError)?.code == (kind == 3 ? .io : .parameter))
        }
        if kind == 1 {
          let error = #expect(throws: AnimatedImageError.self) { try writer.finish() }
          #expect(error?.code == .cancelled)
        }
      }
      // Threads of the library may still be at a frame of a writer that was dropped.
      while try Self.names(folder).contains(where: { $0.hasSuffix(".tmp") }) { sched_yield() }
      let left = try Self.names(folder).map { Int($0.prefix { $0 != "." }) ?? 0 }
      #expect(left.allSatisfy { $0 % 4 == 0 } && !left.isEmpty)
    }
  }

  @Test func `writers end from another thread`() throws {
    try inFolder { folder in
      for round in 0..<40 {
        let path = FilePath(folder.appending(path: "\(round).png").path)
        let writer = try AnimationWriter(AnimationWriterOptions(), to: FileSink(path))
        let thread = SystemThread { writer.cancel() }
        do throws(AnimatedImageError) {
          for picture in Self.film { try writer.append(picture, delay: Self.delay) }
          try writer.finish()
        } catch {
          #expect(error.code == .cancelled)
        }
        thread?.join()
      }
      while try Self.names(folder).contains(where: { $0.hasSuffix(".tmp") }) { sched_yield() }
    }
  }

  @Test func `cancelling a task cancels the writer`() async throws {
    let sink = FailingSink(after: .max)
    let writer = try AnimationWriter(AnimationWriterOptions(), to: sink)
    let task = Task {
      try await writer.append(Self.film[0], delay: Self.delay)
      while true { try await writer.append(Self.film[1], delay: Self.delay) }
    }
    task.cancel()
    let error = await #expect(throws: AnimatedImageError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    let after = await #expect(throws: AnimatedImageError.self) { try await writer.finish() }
    #expect(after?.code == .cancelled)
  }

  @Test func `a sink that blocks holds the frames back`() throws {
    let (gate, entered) = (ThreadSignal(), ThreadSignal())
    let sink = CallbackSink { _ in
      entered.post()
      gate.wait()
    }
    let options = AnimationWriterOptions(frameCount: 100, parallelism: 2)
    let writer = try AnimationWriter(options, to: sink)
    let appended = Mutex(0)
    let thread = SystemThread {
      for index in 0..<100 {
        try? writer.append(Self.film[index % 4], delay: Self.delay)
        appended.withLock { $0 += 1 }
      }
      _ = try? writer.finish()
    }
    entered.wait()
    // All but the first few wait for the sink, which takes nothing.
    #expect(appended.withLock { $0 } < 12)
    for _ in 0..<1000 { gate.post() }
    thread?.join()
    #expect(writer.progress.frameCount == 100)
  }

  @Test func `sinks that block hold up no decoding, and may wait for it`() async throws {
    let film = try AnimatedImage(bytes: Self.expected())
    let entered = AsyncStream.makeStream(of: Void.self)
    let gate = Monitor(false)
    // More of them than there are threads that decode.
    let count = DecodeThreads.processorCount + 2
    let files = try await withThrowingTaskGroup(of: [UInt8].self) { group in
      for _ in 0..<count {
        let parts = Mutex<[UInt8]>([])
        let sink = CallbackSink { part in
          if parts.withLock({ $0.isEmpty }) { entered.continuation.yield() }
          _ = gate.wait { $0 ? true : nil }
          parts.withLock { $0 += part }
        }
        let writer = try AnimationWriter(AnimationWriterOptions(frameCount: 4), to: sink)
        group.addTask {
          for picture in Self.film { try await writer.append(picture, delay: Self.delay) }
          try await writer.finish()
          return parts.withLock { $0 }
        }
      }
      var waiting = entered.stream.makeAsyncIterator()
      for _ in 0..<count { await waiting.next() }
      #expect(try await film.bitmap(at: 3) == Self.film[3])
      gate.update { $0 = true }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(try files == Array(repeating: Self.expected(), count: count))
  }

  @Test func `a pipe that nobody reads is waited for until the writer is cancelled`() throws {
    try inFolder { folder in
      let pipe = folder.appending(path: "pipe")
      #expect(unsafe mkfifo(pipe.path, 0o600) == 0)
      // Without a reader; and with one, which takes nothing, in a pipe that is soon full.
      for hasReader in [false, true] {
        let reader = hasReader ? unsafe open(pipe.path, O_RDONLY | O_NONBLOCK) : -1
        defer { close(reader) }
        let polls = Mutex(0)
        let sink = FileSink(FilePath(pipe.path))
        sink.observe {
          polls.withLock { polls in
            polls += 1
            return polls > 3
          }
        }
        let error = #expect(throws: AnimatedImageError.self) {
          try sink.write([UInt8](repeating: 7, count: 1 << 20))
        }
        sink.abandon()
        #expect(error?.code == .cancelled && polls.withLock { $0 } == 4)
      }
    }
  }

  @Test func `only the calls of a writer write to its sink`() throws {
    let threads = Mutex<Set<pthread_t>>([])
    let sink = CallbackSink { _ in _ = threads.withLock { $0.insert(pthread_self()) } }
    try Self.write(AnimationWriterOptions(frameCount: 4, parallelism: 4), to: sink)
    #expect(threads.withLock { $0 } == [pthread_self()])
  }

  @Test(arguments: [nil, 5]) func `a GIF is written as it is made`(frameCount: Int?) throws {
    let sizes = Mutex<[Int]>([])
    let sink = CallbackSink { part in sizes.withLock { $0.append(part.count) } }
    let writer = try AnimationWriter(
      AnimationWriterOptions(format: .gif, frameCount: frameCount, parallelism: 1), to: sink)
    for picture in Self.film { try writer.append(picture, delay: Self.delay) }
    #expect(sizes.withLock { $0.count } > 1)
    // Longer than a frame of a GIF may be: it takes two.
    try writer.append(Self.film[0], delay: FrameDelay(numerator: 1000, denominator: 1))
    #expect(try writer.finish().frameCount == 6)
  }

  @Test func `a delay that takes several frames of an APNG is refused for a pipe`() throws {
    let writer = try AnimationWriter(
      AnimationWriterOptions(frameCount: 2), to: CallbackSink { _ in })
    let error = #expect(throws: AnimatedImageError.self) {
      try writer.append(Self.film[0], delay: FrameDelay(numerator: 65_536, denominator: 1))
      try writer.append(Self.film[1], delay: Self.delay)
      try writer.finish()
    }
    #expect(error?.code == .unwritable)
  }
}
