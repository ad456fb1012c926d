import Foundation
import SystemPackage
import Testing

@testable import Zoetrope

/// Scanning a large file through a mapping: the same as reading it, whatever becomes of the file.
@Suite(.timeLimit(.minutes(1))) struct MappedReaderTests {
  private func withFile(
    _ content: [UInt8], _ body: (FilePath, (Int) throws -> Void) throws -> Void
  ) throws {
    let name = NSTemporaryDirectory() + "mapped-\(UUID().uuidString)"
    try Data(content).write(to: URL(fileURLWithPath: name))
    defer { try? FileManager.default.removeItem(atPath: name) }
    try body(FilePath(name)) { size in
      try FileHandle(forWritingTo: URL(fileURLWithPath: name)).truncate(atOffset: UInt64(size))
    }
  }

  /// Frames of full sub-blocks: as long as they are, and as one in eight of them is shorter.
  private var film: [UInt8] {
    var bytes = Array("GIF89a".utf8) + [4, 0, 4, 0, 0, 0, 0]
    for frame in 0..<24 {
      if frame % 3 > 0 { bytes += [0x21, 0xf9, 4, UInt8(frame % 4) << 2, 5, 0, 0, 0] }
      bytes += [0x2c, 0, 0, 0, 0, 4, 0, 4, 0, 0, 2]
      for block in 0..<600 {
        let size = (frame + block) % 8 == 0 ? 254 : 255
        bytes += [UInt8(size)] + [UInt8](repeating: UInt8(block % 251), count: size)
      }
      bytes.append(0)
    }
    return bytes + [0x3b]
  }

  @Test(arguments: [1, 2])
  func `blocks come in order, and reading ends when no more are wanted`(threads: Int) throws {
    var content: [UInt8] = []
    // More than is entered ahead and left behind together.
    for block in 0..<45 {
      content += [UInt8](repeating: UInt8(block), count: MappedReader.blockSize)
    }
    content += [45, 45, 45, 45, 45]
    let size = content.count
    try withFile(content) { (path, _) in
      let mapping = try #require(try FileSource(path: path, maps: true).mapping())
      for wanted in [1, 5, 60] {
        var seen: [UInt8] = []
        var count = 0
        try MappedReader.forEachBlock(of: mapping, threadCount: threads) { bytes in
          seen.append(bytes[0])
          count += bytes.byteCount
          for offset in stride(from: 0, to: bytes.byteCount, by: 256)
          where bytes[offset] != bytes[0] {
            Issue.record("byte \(offset) of block \(seen.count - 1) is \(bytes[offset])")
          }
          return seen.count < wanted
        }
        #expect(seen == (0..<UInt8(min(wanted, 46))).map { $0 })
        if wanted > 46 { #expect(count == size) }
      }
      #expect(!mapping.hasGap)
    }
  }

  @Test(arguments: [1, 2])
  func `a file that is cut while it is read shows zeros, and nobody dies`(threads: Int) throws {
    let content = [UInt8](repeating: 7, count: MappedReader.blockSize * 12)
    try withFile(content) { (path, cut) in
      let mapping = try #require(try FileSource(path: path, maps: true).mapping())
      var count = 0
      var other: UInt8?
      try MappedReader.forEachBlock(of: mapping, threadCount: threads) { bytes in
        if count == 2 * MappedReader.blockSize { try? cut(count + 100) }
        count += bytes.byteCount
        for offset in stride(from: 0, to: bytes.byteCount, by: 64) where bytes[offset] != 7 {
          other = other ?? bytes[offset]
        }
        return true
      }
      #expect(mapping.hasGap)
      #expect(other == 0)
      #expect(count == 3 * MappedReader.blockSize)
    }
  }

  private func scan(_ source: FileSource) -> Result<ScannedImage, AnimatedImageError> {
    do throws(AnimatedImageError) {
      return .success(try ImageScan.scan(source, options: .init()))
    } catch {
      return .failure(error)
    }
  }

  /// The cuts: none, within the last page, in a frame, in the header's page, nothing left.
  @Test(arguments: [Int.max, -3, 3_000_000, 1_500_000, 700, 0])
  func `a scan finds what reading finds, also of a file cut after it was opened`(size: Int) throws {
    let film = film
    try withFile(film) { (path, cut) in
      let mapped = try FileSource(path: path, maps: true)
      let read = try FileSource(path: path)
      if size < .max { try cut(size < 0 ? film.count + size : size) }
      #expect(scan(mapped) == scan(read))
    }
  }

  @Test func `a limit that is passed is the same error through a mapping`() throws {
    try withFile(film) { (path, _) in
      var options = DecodingOptions()
      options.limits.frameCount = 20
      let errors = try [false, true].map { maps in
        let source = try FileSource(path: path, maps: maps)
        return #expect(throws: AnimatedImageError.self) {
          try ImageScan.scan(source, options: options)
        }
      }
      #expect(errors[0]?.code == .limitExceeded)
      #expect(errors[0] == errors[1])
    }
  }

  @Test func `a scan says the same of a damaged film`() throws {
    var film = film
    film[2_000_000] = 0
    for index in 2_500_000..<2_500_300 { film[index] = 0xee }
    try withFile(film) { (path, _) in
      let expected = try ImageScan.scan(FileSource(path: path), options: .init())
      let found = try ImageScan.scan(FileSource(path: path, maps: true), options: .init())
      #expect(found == expected)
      #expect(try ImageScan.scan(MemorySource(film), options: .init()) == expected)
    }
  }
}
