import Foundation
import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropeStore

@Suite(.timeLimit(.minutes(10)), .startsThreads) struct StoreIndexTests {
  private let scratch: ScratchDirectory

  init() throws { scratch = try ScratchDirectory() }

  /// The package's own pictures, which nobody wrote to within the last seconds.
  private static let files: [FilePath] = {
    let folder = FilePath(#filePath).removingLastComponent().removingLastComponent()
      .removingLastComponent().removingLastComponent()
    let found = FileManager.default.enumerator(atPath: folder.appending("Fixtures").string)
    return (found?.allObjects as? [String] ?? [])
      .filter { $0.hasSuffix(".gif") || $0.hasSuffix(".png") }
      .sorted().map { folder.appending("Fixtures").appending($0) }
  }()

  private func records() -> [FilePath] {
    let folder = scratch.path.appending("store/index")
    return ((try? FileManager.default.contentsOfDirectory(atPath: folder.string)) ?? [])
      .map { folder.appending($0) }
  }

  @Test func `a known file is opened as it was scanned`() throws {
    #expect(Self.files.count > 10)
    let store = try FrameStore(at: scratch.path.appending("store"))
    var known = 0
    for path in Self.files {
      guard let first = try? AnimatedImage(contentsOf: path, knownTo: store) else { continue }
      known += 1
      let second = try AnimatedImage(contentsOf: path, knownTo: store)
      #expect(second.header == first.header)
      #expect(second.frames == first.frames)
      #expect(second.staticImage == first.staticImage)
      #expect(second.storedLoopCount == first.storedLoopCount)
      #expect(second.playCount == first.playCount)
      #expect(second.damage == first.damage)
      #expect(second.metadata == first.metadata)
    }
    #expect(known > 10)
    #expect(records().count == known)
    #expect(store.lastError == nil)
  }

  @Test func `bytes without a file are hashed once for a store`() async throws {
    let source = CountingSource(
      DeltaGIF.make(width: 16, height: 16, frameCount: 3, patch: 4))
    let image = try source.open()
    let store = try FrameStore(at: scratch.path.appending("store"))
    let identity = try store.identity(of: image)
    #expect(source.count == 1)
    for _ in 0..<3 {
      #expect(try store.identity(of: image.charged(to: MemoryBudget())) == identity)
    }
    #expect(source.count == 1)
    // Another store has another secret.
    let other = try FrameStore(at: scratch.path.appending("other"))
    #expect(try other.identity(of: image) != identity)
    #expect(source.count == 2)
  }

  @Test func `frames of one decoder are not taken for those of the other`() async throws {
    let memory = MemoryFrameCache(budget: MemoryBudget(byteLimit: 8 << 20))
    let caches: [any FrameCaching] = [memory, try FrameStore(at: scratch.path.appending("store"))]
    var differing = 0
    for path in Self.files where path.string.contains("/Bad/gif-") {
      guard let image = try? AnimatedImage(contentsOf: path) else { continue }
      let other = try AnimatedImage(
        contentsOf: path, options: DecodingOptions(decoder: .reference))
      let expected = try FrameReader(image).frame(at: 0)
      differing += try FrameReader(other).frame(at: 0).bitmap == expected.bitmap ? 0 : 1
      for cache in caches {
        _ = try await other.bitmap(at: 0, cache: cache)
        #expect(try await image.bitmap(at: 0, cache: cache) == expected.bitmap)
      }
    }
    #expect(differing > 0)
  }

  @Test func `records are what is served, and other options have others`() throws {
    let store = try FrameStore(at: scratch.path.appending("store"))
    let path = try #require(Self.files.first)
    let image = try AnimatedImage(contentsOf: path, knownTo: store)
    // One file's record under another one's name is not taken for it.
    let other = try AnimatedImage(contentsOf: Self.files[1], knownTo: store)
    let files = records()
    try #require(files.count == 2)
    let bytes = try files.map { try Data(contentsOf: URL(filePath: $0.string)) }
    try bytes[0].write(to: URL(filePath: files[1].string))
    try bytes[1].write(to: URL(filePath: files[0].string))
    #expect(try AnimatedImage(contentsOf: path, knownTo: store).frames == image.frames)
    #expect(try AnimatedImage(contentsOf: Self.files[1], knownTo: store).frames == other.frames)
    _ = try AnimatedImage(
      contentsOf: path, options: DecodingOptions(limits: .strict), knownTo: store)
    #expect(records().count == 3)
  }

  @Test func `a flipped byte or a missing end costs the record, nothing else`() throws {
    let store = try FrameStore(at: scratch.path.appending("store"))
    let path = try #require(Self.files.first)
    let image = try AnimatedImage(contentsOf: path, knownTo: store)
    let record = try #require(records().first)
    let good = try Data(contentsOf: URL(filePath: record.string))
    for offset in stride(from: 0, to: good.count, by: max(good.count / 200, 1)) {
      try record.flip(offset, by: 1 << UInt8(offset % 8))
      #expect(try AnimatedImage(contentsOf: path, knownTo: store).frames == image.frames)
      #expect(try Data(contentsOf: URL(filePath: record.string)) == good)
      try record.truncate(to: offset)
      #expect(try AnimatedImage(contentsOf: path, knownTo: store).frames == image.frames)
    }
  }

  @Test func `large records drop the oldest ones as soon as the limit is passed`() throws {
    let folder = scratch.path.appending("index")
    try FileManager.default.createDirectory(
      atPath: folder.string, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    let index = StoreIndex(directory: folder, secret: .process)
    func stamp(_ number: Int) -> FileStamp {
      FileStamp(device: 1, inode: UInt64(number), byteCount: 1, modified: 1, changed: 1)
    }
    // 7 MiB each, of the 32 MiB that records may take.
    let content = Array(repeating: UInt8(7), count: 7 << 20)
    var known: Set<String> = []
    for number in 0..<8 {
      try index.write(.structure, of: stamp(number)) { $0.put(content) }
      // Two records may have been written within one tick of the file system's clock.
      for name in Set(index.records().map(\.name)).subtracting(known) {
        known.insert(name)
        try FileManager.default.setAttributes(
          [.modificationDate: Date(timeIntervalSince1970: Double(1000 + number))],
          ofItemAtPath: folder.appending(name).string)
      }
      let records = index.records()
      #expect(records.count == min(number + 1, 4))
      #expect(records.reduce(0) { $0 + $1.status.byteCount } <= 32 << 20)
      #expect(index.read(.structure, of: stamp(number)) != nil)
    }
    #expect(index.read(.structure, of: stamp(0)) == nil)
    // What would take as long to read as a scan is not stored at all.
    try index.write(.structure, of: stamp(9)) { $0.put(content + content) }
    #expect(index.read(.structure, of: stamp(9)) == nil)
    #expect(index.records().count == 4)
  }

  @Test func `cancelling ends the scan of a file that is not known`() throws {
    // Blocks of one byte, over 1 MiB of them.
    var bytes = Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2]
    bytes += (0..<1 << 20).map { $0.isMultiple(of: 2) ? 1 : 0 }
    bytes += [0, 0x3b]
    let path = scratch.path.appending("blocks.gif")
    try Data(bytes).write(to: URL(filePath: path.string))
    let store = try FrameStore(at: scratch.path.appending("store"))
    for stop in [0, 1, 3] {
      var polls = 0
      let error = #expect(throws: AnimatedImageError.self) {
        try store.open(path, options: .init()) {
          polls += 1
          return polls > stop
        }
      }
      #expect(error?.code == .cancelled)
      #expect(polls == stop + 1)
    }
    #expect(records().isEmpty)
    #expect(store.lastError == nil)
    #expect(try store.open(path, options: .init()) { false }.frames.count == 1)
  }

  @Test func `a cancelled task opens no file, whether or not the file is known`() async throws {
    let store = try FrameStore(at: scratch.path.appending("store"))
    let path = try #require(Self.files.first)
    for isKnown in [false, true] {
      #expect(records().isEmpty == !isKnown)
      let task = Task { () -> AnimatedImageError.Code? in
        unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
        do throws(AnimatedImageError) {
          _ = try AnimatedImage(contentsOf: path, knownTo: store)
          return nil
        } catch {
          return error.code
        }
      }
      #expect(await task.value == .cancelled)
      _ = try AnimatedImage(contentsOf: path, knownTo: store)
    }
  }

  @Test func `hashing that is cancelled leaves no identity`() throws {
    let store = try FrameStore(at: scratch.path.appending("store"))
    let image = try AnimatedImage(contentsOf: #require(Self.files.first))
    let error = #expect(throws: AnimatedImageError.self) {
      try store.identity(of: image) { true }
    }
    #expect(error?.code == .cancelled)
    #expect(records().isEmpty)
    #expect(store.lastError == nil)
  }

  @Test func `identities are kept too, and everything may be cleared`() throws {
    let store = try FrameStore(at: scratch.path.appending("store"))
    let image = try AnimatedImage(contentsOf: #require(Self.files.first))
    let identity = try store.identity(of: image)
    #expect(records().count == 1)
    #expect(try store.identity(of: image) == identity)
    store.removeAll()
    #expect(records().isEmpty)
    #expect(try store.identity(of: image) == identity)
  }
}
