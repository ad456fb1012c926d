import Glibc
import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10))) struct FileChunksTests {
  @Test func `a pipe gives its bytes as they come, and ends`() async throws {
    let (reading, writing) = try FileDescriptor.pipe()
    defer { try? reading.close() }
    var chunks = FileChunks(reading).makeAsyncIterator()
    try writing.writeAll([1, 2, 3])
    #expect(try await chunks.next() == [1, 2, 3])
    try writing.writeAll([4])
    try writing.close()
    #expect(try await chunks.next() == [4])
    #expect(try await chunks.next() == nil)
  }

  @Test func `an iterator goes on when its descriptor is closed`() async throws {
    let (reading, writing) = try FileDescriptor.pipe()
    var chunks = FileChunks(reading).makeAsyncIterator()
    try reading.close()
    try writing.writeAll([1, 2])
    try writing.close()
    #expect(try await chunks.next() == [1, 2])
    #expect(try await chunks.next() == nil)
  }

  @Test func `waiting for a pipe ends when the task is cancelled`() async throws {
    let (reading, writing) = try FileDescriptor.pipe()
    let task = Task {
      var chunks = FileChunks(reading).makeAsyncIterator()
      return try await chunks.next()
    }
    task.cancel()
    #expect(try await task.value == nil)
    try reading.close()
    try writing.close()
  }

  @Test func `a reader of a pipe does not wait for bytes that another one took`() async throws {
    for _ in 0..<30 {
      let (reading, writing) = try FileDescriptor.pipe()
      let other = try FileDescriptor.open(
        FilePath("/proc/self/fd/\(reading.rawValue)"), .readOnly, options: .nonBlocking)
      let chunks = Tally()
      let tasks = (0..<4).map { _ in
        Task {
          var iterator = FileChunks(reading).makeAsyncIterator()
          while try await iterator.next() != nil { chunks.add() }
        }
      }
      try writing.writeAll([1])
      await chunks.reach(1)
      var buffer = [UInt8](repeating: 0, count: 8)
      for _ in 0..<300 {
        try writing.writeAll([1])
        // Either one takes the byte; the other was told that there is one.
        _ = try? other.read(into: &buffer)
      }
      for task in tasks { task.cancel() }
      for task in tasks { try await task.value }
      for descriptor in [reading, writing, other] { try descriptor.close() }
    }
  }

  @Test func `a named pipe whose writer has gone ends, and keeps its mode`() async throws {
    let scratch = try ScratchDirectory()
    let path = scratch.path.appending("pipe")
    try #require(unsafe mkfifo(path.string, 0o600) == 0)
    // Opening for both does not wait for a writer.
    let both = try FileDescriptor.open(path, .readWrite)
    let reading = try FileDescriptor.open(path, .readOnly)
    defer { try? reading.close() }
    try both.writeAll([1, 2])
    try both.close()
    var chunks = FileChunks(reading).makeAsyncIterator()
    #expect(try await chunks.next() == [1, 2])
    #expect(try await chunks.next() == nil)
    #expect(fcntl(reading.rawValue, F_GETFL) & O_NONBLOCK == 0)
  }

  @Test func `a growing file is followed to its end marker`() async throws {
    let bytes = try FixtureLibrary().file("Demo/variable-delay.gif")
    let whole = try AnimatedImage(bytes: bytes)
    let half = try #require(whole.frames.first).byteRange.upperBound + 1
    let path = FilePath("/tmp/zoetrope-follow-\(UInt64.random(in: 0 ... .max)).gif")
    let writing = try FileDescriptor.open(
      path, .readWrite, options: [.create, .exclusiveCreate], permissions: [.ownerReadWrite])
    let reading = try FileDescriptor.open(path, .readOnly)
    defer {
      FileSystem.remove(path)
      try? writing.close()
      try? reading.close()
    }
    try writing.writeAll(bytes[..<half])
    let image = try await StreamedImage(FileChunks(reading, following: .milliseconds(2)))
    #expect(await image.waitForFrame(0))
    #expect(image.progress.ending == nil)
    try writing.writeAll(bytes[half...])
    #expect(await image.waitUntilEnded() == .complete)
    #expect(image.frames == whole.frames)
  }

  @Test func `a descriptor that cannot be read throws`() async throws {
    let (reading, writing) = try FileDescriptor.pipe()
    try reading.close()
    var chunks = FileChunks(writing).makeAsyncIterator()
    await #expect(throws: AnimatedImageError.self) { try await chunks.next() }
    try writing.close()
  }
}
