import Foundation
import SystemPackage
import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// Files that stop being readable once they are open.
@Suite(.timeLimit(.minutes(10)), .startsThreads) struct FileFaultTests {
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

  @Test func `a large file that cannot be read is an error`() throws {
    let folder = URL(fileURLWithPath: NSTemporaryDirectory()).resolvingSymlinksInPath().path
    let name = "\(folder)/unreadable-\(UUID().uuidString)"
    try Data(count: 1 << 21).write(to: URL(fileURLWithPath: name))
    defer { try? FileManager.default.removeItem(atPath: name) }
    let source = try FileSource(path: FilePath(name))
    // Found before the file is opened again, perhaps under a lower number.
    let reading = try #require(descriptor(of: name))
    // As when a disk goes away: every read fails from here on.
    let writeOnly = try FileDescriptor.open(FilePath(name), .writeOnly)
    _ = try writeOnly.duplicate(as: FileDescriptor(rawValue: reading))
    defer { try? writeOnly.close() }
    var blocks = 0
    let error = #expect(throws: AnimatedImageError.self) {
      try source.forEachBlock { _ in
        blocks += 1
        return true
      }
    }
    #expect(error?.code == .io)
    #expect(blocks == 0)
  }

  @Test func `small ranges that lie close together are read at once`() throws {
    let name = "\(NSTemporaryDirectory())ranges-\(UUID().uuidString)"
    let bytes = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    try Data(bytes).write(to: URL(fileURLWithPath: name))
    defer { try? FileManager.default.removeItem(atPath: name) }
    let source = try FileSource(path: FilePath(name))
    var buffer = ReadBuffer()
    func read(_ range: Range<Int>) throws -> [UInt8] {
      try source.withBytes(in: range, buffer: &buffer) { bytes in
        (0..<bytes.byteCount).map { bytes[$0] }
      }
    }
    for range in [0..<100, 90..<16_000, 17_000..<39_000, 16_990..<17_010, 39_990..<40_000, 5..<5] {
      #expect(try read(range) == Array(bytes[range]))
    }
    #expect(try read(39_990..<50_000) == Array(bytes[39_990...]))
    #expect(try read(0..<10) == Array(bytes[..<10]))
    // Bytes that were read with the first range remain available after the file is truncated.
    #expect(unsafe truncate(name, 20) == 0)
    #expect(try read(9_000..<9_100) == Array(bytes[9_000..<9_100]))
    // Other bytes are available only up to the end of the file.
    #expect(try read(20_000..<20_100) == [])
    #expect(try read(0..<100) == Array(bytes[..<20]))
  }
}
