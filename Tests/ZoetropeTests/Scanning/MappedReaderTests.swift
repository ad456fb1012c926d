import Foundation
import SystemPackage
import TestRunning
import Testing

@testable import Zoetrope
@testable import ZoetropeCodec
@testable import ZoetropeCore

/// Scanning a large file through a mapping: the same as reading it, whatever becomes of the file.
@Suite(.timeLimit(.minutes(1)), .startsThreads) struct MappedReaderTests {
  private typealias Reader = MappedReader<Int>

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

  /// 36 MB of frames, with and without controls: every other one of full sub-blocks, the rest with a
  /// shorter one among eight.
  private static let film = {
    var bytes = Array("GIF89a".utf8) + [4, 0, 4, 0, 0, 0, 0]
    for frame in 0..<60 {
      if frame % 3 > 0 { bytes += [0x21, 0xf9, 4, UInt8(frame % 4) << 2, 5, 0, 0, 0] }
      bytes += [0x2c, 0, 0, 0, 0, 4, 0, 4, 0, 0, 2]
      for block in 0..<2400 {
        let size = frame % 2 == 0 && (frame + block) % 8 == 0 ? 254 : 255
        bytes += [UInt8(size)] + [UInt8](repeating: UInt8(block % 251), count: size)
      }
      bytes.append(0)
    }
    return bytes + [0x3b]
  }()
  private var film: [UInt8] { Self.film }

  @Test(arguments: [1, 2])
  func `blocks come in order, and reading ends when no more are wanted`(threads: Int) throws {
    var content: [UInt8] = []
    // More than is entered ahead and left behind together.
    for block in 0..<22 {
      content += [UInt8](repeating: UInt8(block), count: Reader.blockSize)
    }
    content += [22, 22, 22, 22, 22]
    let size = content.count
    try withFile(content) { (path, _) in
      let mapping = try #require(try FileSource(path: path, maps: true).mapping())
      for wanted in [1, 5, 60] {
        var seen: [UInt8] = []
        var count = 0
        try MappedReader.forEachBlock(
          of: mapping, threadCount: threads, lookingAhead: { $0[0] }
        ) { (bytes, ahead) in
          seen.append(bytes[0])
          if let ahead { #expect(ahead == bytes[0] && threads > 1) }
          count += bytes.byteCount
          for offset in stride(from: 0, to: bytes.byteCount, by: 256)
          where bytes[offset] != bytes[0] {
            Issue.record("byte \(offset) of block \(seen.count - 1) is \(bytes[offset])")
          }
          return seen.count < wanted
        }
        #expect(seen == (0..<UInt8(min(wanted, 23))).map { $0 })
        if wanted > 23 { #expect(count == size) }
      }
      #expect(!mapping.hasGap)
    }
  }

  /// The caller is held up in its first block until another thread has looked at as many as it may.
  /// The last of these may not be handed over yet, and the last block of the file is a short one.
  @Test func `a scan takes what another thread found ahead, and finds the same`() throws {
    try withFile(film) { (path, _) in
      let mapping = try #require(try FileSource(path: path, maps: true).mapping())
      let looks = ThreadSignal()
      var scanner = GIFScanner()
      var foreseen: [Int] = []
      try MappedReader.forEachBlock(
        of: mapping, threadCount: 2,
        lookingAhead: { bytes in
          defer { looks.post() }
          return GIFScanner.lookAhead(in: bytes)
        }
      ) { (bytes, chains) throws(AnimatedImageError) in
        if scanner.image.byteCount == 0 { for _ in 0..<Reader.lead { looks.wait() } }
        if let chains, bytes.byteCount == Reader.blockSize { foreseen.append(chains.chains.count) }
        try scanner.feed(bytes, knowing: chains ?? SubBlockChains())
        return !scanner.isAtEnd
      }
      try scanner.finish()
      let alone = try ImageScan.scan(FileSource(path: path), options: .init(parallelism: 1))
      #expect(scanner.image == alone)
      #expect(foreseen.count >= Reader.lead - 1)
      #expect(foreseen.allSatisfy { $0 > 2 })
    }
  }

  @Test func `an error ends the reading, whatever the other thread is at`() throws {
    try withFile(film) { (path, _) in
      let mapping = try #require(try FileSource(path: path, maps: true).mapping())
      for block in [0, 1, 7] {
        var count = 0
        let error = #expect(throws: AnimatedImageError.self) {
          try MappedReader.forEachBlock(
            of: mapping, threadCount: 2, lookingAhead: { GIFScanner.lookAhead(in: $0) }
          ) { (_, _) throws(AnimatedImageError) in
            defer { count += 1 }
            if count == block { throw AnimatedImageError(.cancelled, "block \(block)") }
            return true
          }
        }
        #expect(error?.code == .cancelled && count == block + 1)
      }
    }
  }

  @Test(arguments: [1, 2])
  func `a file that is cut while it is read shows zeros, and nobody dies`(threads: Int) throws {
    let content = [UInt8](repeating: 7, count: Reader.blockSize * 12)
    try withFile(content) { (path, cut) in
      let mapping = try #require(try FileSource(path: path, maps: true).mapping())
      var count = 0
      var other: UInt8?
      try MappedReader.forEachBlock(
        of: mapping, threadCount: threads, lookingAhead: { $0.byteCount }
      ) { (bytes, _) in
        if count == 2 * Reader.blockSize { try? cut(count + 100) }
        count += bytes.byteCount
        for offset in stride(from: 0, to: bytes.byteCount, by: 64) where bytes[offset] != 7 {
          other = other ?? bytes[offset]
        }
        return true
      }
      #expect(mapping.hasGap)
      #expect(other == 0)
      #expect(count == 3 * Reader.blockSize)
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
  @Test(arguments: [Int.max, -3, 30_000_000, 15_000_000, 700, 0])
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
    film[20_000_000] = 0
    for index in 25_000_000..<25_000_300 { film[index] = 0xee }
    try withFile(film) { (path, _) in
      let expected = try ImageScan.scan(FileSource(path: path), options: .init())
      let found = try ImageScan.scan(FileSource(path: path, maps: true), options: .init())
      #expect(found == expected)
      #expect(try ImageScan.scan(MemorySource(film), options: .init()) == expected)
    }
  }
}
