import Foundation
import Synchronization
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCore
@testable import ZoetropeWriting

/// What is left of a writer and its sink, however it ends.
@Suite(.timeLimit(.minutes(10)), .startsThreads) struct WriterEndingTests {
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
      let writer = try AnimationWriter(to: FileSink(path))
      for picture in WrittenPictures.all {
        try writer.append(picture, delay: WrittenPictures.delay)
        #expect(try !Self.names(folder).contains("a.png"))
      }
      try writer.finish()
      #expect(try Self.names(folder) == ["a.png"])
      #expect(
        try [UInt8](Data(contentsOf: folder.appending(path: "a.png"))) == WrittenPictures.bytes())
    }
  }

  @Test func `a file that is replaced passes its permissions on, and a link stays`() throws {
    try inFolder { folder in
      let (file, link) = (folder.appending(path: "a.png"), folder.appending(path: "b.png"))
      try Data([1]).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
      try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "a.png")
      try WrittenPictures.write(AnimationWriterOptions(), to: FileSink(FilePath(link.path)))
      #expect(try Self.names(folder) == ["a.png", "b.png"])
      let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
      #expect(attributes[.posixPermissions] as? Int == 0o640)
      #expect(try [UInt8](Data(contentsOf: file)) == WrittenPictures.bytes())
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "a.png")
    }
  }

  @Test func `a file is not replaced unless that is requested`() throws {
    try inFolder { folder in
      let file = folder.appending(path: "a.png")
      try Data([1]).write(to: file)
      let error = #expect(throws: AnimatedImageError.self) {
        try WrittenPictures.write(
          AnimationWriterOptions(), to: FileSink(FilePath(file.path), replaces: false))
      }
      #expect(error?.code == .io && error?.systemError == .fileExists)
      #expect(try Data(contentsOf: file) == Data([1]))
      #expect(try Self.names(folder) == ["a.png"])
    }
  }

  @Test func `an error of the system names the path, without control characters`() {
    let error = #expect(throws: AnimatedImageError.self) {
      try WrittenPictures.write(
        AnimationWriterOptions(), to: FileSink("/nonexistent/party\u{1b}.png"))
    }
    #expect(error?.code == .io)
    #expect(
      error?.systemError == .noSuchFileOrDirectory
        && error?.detail == #""/nonexistent/party\u{1B}.png": No such file or directory"#)
  }

  @Test func `an animation can replace the file that it is read from`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "writer-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = FilePath(folder.appending(path: "a.png").path)
    try WrittenPictures.write(AnimationWriterOptions(), to: FileSink(path))
    let image = try await AnimatedImage.open(path)
    try await image.reencode(to: FileSink(path))
    let copy = try await AnimatedImage.open(path)
    for index in 0..<4 { #expect(try await copy.bitmap(at: index) == WrittenPictures.all[index]) }
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

  @Test func `a writer does not abandon a sink that fails at its end`() throws {
    let sink = FailingSink(after: .max, failsAtEnd: true)
    #expect(throws: AnimatedImageError.self) {
      try WrittenPictures.write(AnimationWriterOptions(), to: sink)
    }
    #expect(sink.calls.withLock { ($0.finished, $0.abandoned) } == (1, 0))
  }

  @Test(arguments: [0, 60, 200, 1 << 20]) func `an error of the sink ends the writer`(limit: Int)
    throws
  {
    let sink = FailingSink(after: limit)
    let writer = try AnimationWriter(to: sink)
    var error: AnimatedImageError?
    do throws(AnimatedImageError) {
      for picture in WrittenPictures.all {
        try writer.append(picture, delay: WrittenPictures.delay)
      }
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
    case copying, rewriting, shrinking, planned, budget, preset, writer, optimize

    func run(_ image: AnimatedImage, _ sink: some AnimationSink) async throws {
      let half = AnimationEdit.resize(TargetSize(width: 15, height: 10))
      switch self {
      case .copying: try await image.write([.reverse], to: sink)
      case .rewriting: try await image.write([half], to: sink, options: .init(format: .apng))
      case .shrinking: try await image.write([half], to: sink)
      case .planned: try await image.plan([.speed(2)]).write(to: sink)
      case .budget:
        try await image.write(
          [], to: sink, options: EditOptions(budget: ByteBudget(byteLimit: 100_000)))
      case .preset: try await image.write(for: .slackEmoji, to: sink)
      case .writer: try await image.reencode(to: sink)
      case .optimize: try await image.optimize(to: sink)
      }
    }
  }

  private static func image() throws -> AnimatedImage {
    let sink = MemorySink()
    try WrittenPictures.write(AnimationWriterOptions(format: .gif), to: sink)
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
    let surveyed = FailingSink(after: .max)
    #expect(throws: AnimatedImageError.self) {
      try image.reencode(to: surveyed, options: nil, isCancelled: { true })
    }
    #expect(surveyed.calls.withLock { ($0.finished, $0.abandoned) } == (0, 1))
  }

  // MARK: Ends

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
          ? try AnimationWriter(to: failing, options: options)
          : try AnimationWriter(to: file, options: options)
        do {
          for picture in WrittenPictures.all.prefix(count) {
            try writer.append(picture, delay: WrittenPictures.delay)
          }
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
        let writer = try AnimationWriter(to: FileSink(path))
        let thread = SystemThread { writer.cancel() }
        do throws(AnimatedImageError) {
          for picture in WrittenPictures.all {
            try writer.append(picture, delay: WrittenPictures.delay)
          }
          try writer.finish()
        } catch {
          #expect(error.code == .cancelled)
        }
        thread?.join()
      }
      while try Self.names(folder).contains(where: { $0.hasSuffix(".tmp") }) { sched_yield() }
    }
  }

  @Test func `a cancelled edit has removed its temporary file once it throws`() async throws {
    let image = try AnimatedImage(bytes: DeltaGIF.make(width: 64, height: 64, frameCount: 30))
    let folder = try ScratchDirectory()
    for round in 0..<20 {
      let begun = TaskGate()
      let mayGoOn = Mutex(false)
      let task = Task {
        try await image.write(
          [.reverse], to: FileSink(folder.path.appending("\(round).png")),
          options: EditOptions(format: .apng)
        ) { _ in
          begun.open()
          while !mayGoOn.withLock({ $0 }) { sched_yield() }
        }
      }
      await begun.wait()
      task.cancel()
      mayGoOn.withLock { $0 = true }
      let error = await #expect(throws: AnimatedImageError.self) { try await task.value }
      #expect(error?.code == .cancelled)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path.string) == [])
    }
  }

  @Test(arguments: [.gif, .apng] as [AnimationFormat])
  func `progress ends with all frames`(format: AnimationFormat) async throws {
    let image = try AnimatedImage(bytes: DeltaGIF.make(width: 64, height: 64, frameCount: 30))
    let last = Mutex<WritingProgress?>(nil)
    let written = try await image.write(
      [.reverse], to: MemorySink(), options: EditOptions(format: format)
    ) { progress in last.withLock { $0 = progress } }
    #expect(last.withLock { $0?.frameCount } == 30 && written.frameCount == 30)
    #expect(last.withLock { $0?.totalFrameCount } == 30)
    last.withLock { $0 = nil }
    _ = try await image.optimize(to: MemorySink()) { progress in last.withLock { $0 = progress } }
    #expect(last.withLock { $0?.frameCount } == 30)
  }

  @Test func `cancelling a task cancels the writer`() async throws {
    let sink = FailingSink(after: .max)
    let writer = try AnimationWriter(to: sink)
    let task = Task {
      try await writer.append(WrittenPictures.all[0], delay: WrittenPictures.delay)
      while true { try await writer.append(WrittenPictures.all[1], delay: WrittenPictures.delay) }
    }
    task.cancel()
    let error = await #expect(throws: AnimatedImageError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    let after = await #expect(throws: AnimatedImageError.self) { try await writer.finish() }
    #expect(after?.code == .cancelled)
  }

  @Test func `a sink for a format that cannot be written is abandoned once`() throws {
    let image = try AnimatedImage(bytes: DeltaGIF.make(width: 8, height: 8, frameCount: 2))
    let sink = FailingSink(after: .max)
    let error = #expect(throws: AnimatedImageError.self) {
      try image.reencode(to: sink, options: AnimationWriterOptions(format: .png))
    }
    #expect(error?.code == .unwritable)
    #expect(sink.calls.withLock { $0.abandoned } == 1)
  }

  @Test func `any limit of memory is accepted`() throws {
    for limit in [Int.min, 0, .max] {
      let options = AnimationWriterOptions(memoryByteLimit: limit)
      let writer = try AnimationWriter(to: MemorySink(), options: options)
      for picture in WrittenPictures.all {
        try writer.append(picture, delay: WrittenPictures.delay)
      }
      #expect(try writer.finish().frameCount > 0)
    }
  }
}
