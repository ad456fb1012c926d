import Foundation
import SystemPackage
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// What opening says when it fails, and what beside regular files can be opened.
@Suite(.timeLimit(.minutes(10))) struct OpeningErrorTests {
  private static func fault(_ bytes: [UInt8]) -> AnimatedImageError? {
    do {
      _ = try AnimatedImage(bytes: bytes)
      return nil
    } catch {
      return error
    }
  }

  /// A PNG whose first chunk is `chunk`.
  private static func png(_ chunk: PNGChunk) -> [UInt8] {
    var png = PNGBuilder()
    png.signature()
    png.chunk(chunk)
    png.chunk("IDAT", ZlibStream().encode([0, 7]))
    png.chunk("IEND")
    return png.bytes
  }

  @Test func `cancelling ends the scan of a file`() throws {
    // Blocks of one byte, over 1 MiB of them.
    var bytes = Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2]
    bytes += (0..<1 << 20).map { $0.isMultiple(of: 2) ? 1 : 0 }
    bytes += [0, 0x3b]
    let name = "\(NSTemporaryDirectory())cancelled-\(UUID().uuidString)"
    try Data(bytes).write(to: URL(fileURLWithPath: name))
    defer { try? FileManager.default.removeItem(atPath: name) }
    for stop in [0, 3] {
      var polls = 0
      func isCancelled() -> Bool {
        polls += 1
        return polls > stop
      }
      let error = #expect(throws: AnimatedImageError.self) {
        try AnimatedImage(contentsOf: FilePath(name), options: .init(), isCancelled: isCancelled)
      }
      #expect(error?.code == .cancelled)
      #expect(polls == stop + 1)
      polls = 0
      let inMemory = #expect(throws: AnimatedImageError.self) {
        try AnimatedImage(source: MemorySource(bytes), options: .init(), isCancelled: isCancelled)
      }
      #expect(inMemory?.code == .cancelled)
      #expect(polls == stop + 1)
    }
    let image = try AnimatedImage(source: MemorySource(bytes), options: .init()) { false }
    #expect(image.frames.count == 1)
  }

  @Test func `each fault of IHDR has words of its own`() {
    let good = PNGBuilder.header(width: 1, height: 1, layout: PNGLayout(.gray))
    var wrong = PNGChunk("IHDR", good)
    wrong.hasCorrectChecksum = false
    func header(_ place: Int, _ value: UInt8) -> PNGChunk {
      var bytes = good
      bytes[place] = value
      return PNGChunk("IHDR", bytes)
    }
    let chunks = [
      wrong, header(3, 0), header(8, 3), header(9, 5), header(10, 1), PNGChunk("IHDR", [1, 2]),
      PNGChunk("tEXt", [65, 0, 66]),
    ]
    #expect(
      chunks.map { Self.fault(Self.png($0))?.detail } == [
        "the CRC of IHDR is wrong", "IHDR declares an invalid size of 0x1",
        "IHDR declares colour type 0 with an invalid bit depth of 3",
        "IHDR declares the unknown colour type 5",
        "IHDR declares an unknown method: compression 1, filtering 0, interlacing 0",
        "IHDR has 2 bytes instead of 13",
        "the first chunk is tEXt, not IHDR",
      ])
    #expect(chunks.allSatisfy { Self.fault(Self.png($0))?.code == .malformed })
  }

  @Test func `an iPhone PNG is not supported, rather than malformed`() {
    let error = Self.fault(Self.png(PNGChunk("CgBI", [0x50, 0, 0x20, 2])))
    #expect(error?.code == .unsupported)
    #expect(error?.detail.contains("iPhone") == true)
  }

  @Test func `Foundation's description of an error is its own`() {
    let error: any Error = AnimatedImageError(.malformed, "no such thing", byteOffset: 7)
    #expect(error.localizedDescription == "malformed: no such thing, byte 7")
  }

  @Test func `an error of the system names the path, without control characters`() {
    let error = #expect(throws: AnimatedImageError.self) {
      try AnimatedImage(contentsOf: "/nonexistent/party\u{1b}.gif")
    }
    #expect(error?.code == .io)
    #expect(
      error?.systemError == .noSuchFileOrDirectory
        && error?.detail == #""/nonexistent/party\u{1B}.gif": No such file or directory"#)
    let folder = #expect(throws: AnimatedImageError.self) { try AnimatedImage(contentsOf: "/tmp") }
    #expect(folder?.detail == #""/tmp": Is a directory"#)
  }

  /// A path for a named pipe, removed with its folder afterwards.
  private func withPipe(_ body: (FilePath) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "pipe").path
    try #require(unsafe mkfifo(path, 0o600) == 0)
    try await body(FilePath(path))
  }

  /// Opens `path` on a thread of its own.
  private func open(
    _ path: FilePath, _ options: DecodingOptions = .init()
  ) async -> Result<AnimatedImage, AnimatedImageError> {
    let result = await DecodeThreads.resultOnOwnThread { _ in
      Result { () throws(AnimatedImageError) in
        try AnimatedImage(contentsOf: path, options: options)
      }
    }
    return result ?? .failure(AnimatedImageError(.cancelled, "the test was cancelled"))
  }

  /// Writes `bytes` to the pipe, on a thread of its own.
  private func write(_ bytes: [UInt8], to path: FilePath) {
    let thread = SystemThread {
      guard let pipe = try? FileDescriptor.open(path, .writeOnly) else { return }
      _ = try? pipe.closeAfter { try pipe.writeAll(bytes) }
    }
    thread?.detach()
  }

  @Test func `a pipe is read to its end and kept`() async throws {
    let bytes = DeltaGIF.make(width: 64, height: 64, frameCount: 5)
    try await withPipe { path in
      write(bytes, to: path)
      let image = try await open(path).get()
      #expect(image.frames.count == 5)
      #expect(image.byteCount == bytes.count)
      #expect(try FrameReader(image).frame(at: 4).index == 4)
    }
  }

  @Test func `no more is read from a pipe than the memory limit allows`() async throws {
    let bytes = DeltaGIF.make(width: 64, height: 64, frameCount: 5)
    var limits = DecodingLimits.default
    limits.liveBytes = bytes.count - 1
    let options = DecodingOptions(limits: limits)
    try await withPipe { path in
      write(bytes, to: path)
      guard case .failure(let error) = await open(path, options) else {
        Issue.record("it was opened")
        return
      }
      #expect(error.code == .limitExceeded)
    }
  }

  @Test func `a device that never ends is refused by its first bytes`() {
    let error = #expect(throws: AnimatedImageError.self) {
      try AnimatedImage(contentsOf: "/dev/zero")
    }
    #expect(error?.code == .notAnImage)
  }
}
