import Foundation
import SystemPackage
import TestRunning
import Testing
import ZoetropeTestSupport

@testable import Zoetrope
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// Opening pipes whose writers send nothing: an opening that is no longer needed must not keep a thread from others.
@Suite(.timeLimit(.minutes(10)), .serialized) struct SilentPipeTests {
  /// As many as there are threads that load files, and some more.
  private static let count = 6

  private let scratch: ScratchDirectory
  private let pipes: [FilePath]
  private let file: FilePath
  private let bytes = DeltaGIF.make(width: 8, height: 8, frameCount: 2, patch: 2)

  init() throws {
    let directory = try ScratchDirectory()
    scratch = directory
    pipes = (0..<Self.count).map { directory.path.appending("pipe-\($0)") }
    for path in pipes { try #require(unsafe mkfifo(path.string, 0o600) == 0) }
    file = directory.path.appending("file.gif")
    try Data(bytes).write(to: URL(filePath: file.string))
  }

  /// The pipes that this process reads.
  private var readCount: Int {
    var count = 0
    for name in (try? FileSystem.names(in: "/proc/self/fd")) ?? [] {
      let path = FileSystem.destination(ofLink: FilePath("/proc/self/fd").appending(name))
      if let path, pipes.contains(path) { count += 1 }
    }
    return count
  }

  @Test func `opening them waits on threads of their own, which end when it is cancelled`()
    async throws
  {
    let tasks = pipes.map { path in
      Task { () async -> AnimatedImageError.Code? in
        do throws(AnimatedImageError) { _ = try await AnimatedImage.open(path) } catch {
          return error.code
        }
        return nil
      }
    }
    await eventually { readCount == Self.count }
    #expect(try await AnimatedImage.open(file).frames.count == 2)
    for task in tasks { task.cancel() }
    for task in tasks { #expect(await task.value == .cancelled) }
    #expect(try await AnimatedImage.open(file).frames.count == 2)
    await eventually { readCount == 0 }
  }

  @Test(arguments: [false, true])
  func `a loader gives their places to others when they are cancelled`(hasStore: Bool) async throws
  {
    let budget = MemoryBudget(byteLimit: 8 << 20)
    let store = hasStore ? try FrameStore(at: scratch.path.appending("store")) : nil
    let loader = FrameLoader(
      cache: MemoryFrameCache(budget: budget, backing: store), budget: budget,
      maxConcurrentLoads: Self.count)
    let tasks = pipes.map { path in
      Task { for await _ in loader.phases(forFileAt: path) {} }
    }
    await eventually { readCount == Self.count }
    for task in tasks { task.cancel() }
    #expect(try await loader.bitmap(forFileAt: file).size == PixelSize(width: 8, height: 8))
    for task in tasks { await task.value }
    await eventually { readCount == 0 && loader.loadCount == 0 }
  }

  @Test func `a pipe that is not cancelled is read to its end`() async throws {
    let path = pipes[0]
    let task = Task { try await AnimatedImage.open(path) }
    await eventually { readCount == 1 }
    let writer = try FileDescriptor.open(path, .writeOnly)
    try writer.closeAfter { _ = try writer.writeAll(bytes) }
    #expect(try await task.value.frames.count == 2)
  }
}
