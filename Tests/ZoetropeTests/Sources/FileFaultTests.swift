import Foundation
import SystemPackage
import TestRunning
import Testing

@testable import Zoetrope
@testable import ZoetropeCodec
@testable import ZoetropeCore

/// Files that stop being readable once they are open.
@Suite(.timeLimit(.minutes(1)), .startsThreads) struct FileFaultTests {
  @Test func `a descriptor that is not open has no status`() {
    let error = #expect(throws: AnimatedImageError.self) {
      try FileSource.status(of: FileDescriptor(rawValue: -1))
    }
    #expect(error?.code == .io)
  }

  /// The descriptor under which this process has `path` open.
  private func descriptor(of path: String) -> CInt? {
    let files = FileManager.default
    let numbers = (try? files.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return numbers.first {
      (try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
    }.flatMap { CInt($0) }
  }

  @Test(arguments: [1, 2]) func `a large file that cannot be read is an error with all threads`(
    threads: Int
  ) throws {
    let folder = URL(fileURLWithPath: NSTemporaryDirectory()).resolvingSymlinksInPath().path
    let name = "\(folder)/unreadable-\(UUID().uuidString)"
    try Data(count: BlockReader.leastSharedSize + 5).write(to: URL(fileURLWithPath: name))
    defer { try? FileManager.default.removeItem(atPath: name) }
    let source = try FileSource(path: FilePath(name))
    // As when a disk goes away: every read fails from here on.
    let writeOnly = try FileDescriptor.open(FilePath(name), .writeOnly)
    _ = try writeOnly.duplicate(as: FileDescriptor(rawValue: #require(descriptor(of: name))))
    defer { try? writeOnly.close() }
    var blocks = 0
    let error = #expect(throws: AnimatedImageError.self) {
      try BlockReader.forEachBlock(of: source, threadCount: threads) { _ in
        blocks += 1
        return true
      }
    }
    #expect(error?.code == .io)
    #expect(blocks == 0)
  }
}
