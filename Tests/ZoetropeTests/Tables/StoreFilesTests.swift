import Foundation
import SystemPackage
import TestRunning
import Testing
import Zoetrope

/// A store in a directory that also has other files.
@Suite(.timeLimit(.minutes(10)), .startsThreads) struct StoreFilesTests {
  private let size = PixelSize(width: 40, height: 30)

  @Test func `files of others are neither counted nor removed`() throws {
    let scratch = try ScratchDirectory()
    let directory = scratch.path.appending("home")
    let limit = 8192 * 18
    let store = try FrameStore(at: directory, byteLimit: limit)
    let others = [
      "letter.txt", "frames", "a.new", "a.frames.txt", "video.frames", "video.frames.12ab.new",
      "secret.txt", "secret.x.new",
      "index/page.html", "index/0123456789abcdef", "index/0123456789abcdef0123456789abcdeg",
    ]
    try FileManager.default.createDirectory(
      atPath: directory.appending("index").string, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    for name in others {
      let file = directory.appending(name).string
      try Data(repeating: 7, count: 100_000).write(to: URL(filePath: file))
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: 1e9)], ofItemAtPath: file)
    }
    let animation = makeAnimation(1, width: size.width, height: size.height)
    // More than the limit allows, in two sizes.
    for index in 0..<40 {
      store.storeIfPossible(CachedFrame(makePixels(size, seed: index)), for: animation[index])
    }
    #expect(store.statistics.frameCount > 10)
    let small = makeAnimation(2, width: 16, height: 16)
    store.storeIfPossible(
      CachedFrame(makePixels(PixelSize(width: 16, height: 16), seed: 1)), for: small[0])
    #expect(store.isWithin(limit))
    try store.prune(to: limit / 2)
    try store.prune(to: 0)
    store.removeAll()
    #expect(store.statistics.byteCount == 0)
    for name in others {
      #expect(FileManager.default.fileExists(atPath: directory.appending(name).string), "\(name)")
    }
  }

  @Test func `leftovers of killed writers are removed`() throws {
    let scratch = try ScratchDirectory()
    let directory = scratch.path.appending("store")
    let store = try FrameStore(at: directory)
    let key = makeAnimation(1, width: size.width, height: size.height)[0]
    try store.store(CachedFrame(makePixels(size, seed: 1)), for: key)
    let table = try #require(
      FileManager.default.contentsOfDirectory(atPath: directory.string)
        .first { $0.hasSuffix(".frames") })
    let leftovers = ["\(table).12ab.new", "secret.ff.new", "8x8-rgba8-0123-v0.0.frames"]
    for name in leftovers {
      let file = directory.appending(name).string
      try Data(count: 10).write(to: URL(filePath: file))
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: 1e9)], ofItemAtPath: file)
    }
    try store.prune(to: 64 << 20)
    for name in leftovers {
      #expect(!FileManager.default.fileExists(atPath: directory.appending(name).string), "\(name)")
    }
    #expect(store.frame(for: key) != nil)
  }

  @Test func `the path of a store need not be UTF-8`() throws {
    let scratch = try ScratchDirectory()
    let store = try FrameStore(at: FilePath(bytes: scratch.path.bytes + [0x2f, 0xff]))
    let key = makeAnimation(1, width: size.width, height: size.height)[0]
    try store.store(CachedFrame(makePixels(size, seed: 1)), for: key)
    #expect(store.frame(for: key) != nil)
  }

  @Test func `more tables than can be open at once are all counted, verified and emptied`() throws {
    let scratch = try ScratchDirectory(inMemory: true)
    let store = try FrameStore(at: scratch.path.appending("store"), byteLimit: 4 << 20)
    let content = ContentIdentity(high: 1, low: 7)
    for width in 1...70 {
      let size = PixelSize(width: width, height: 2)
      let table = FrameFormat("\(width)", size: size, maximumCount: 16).rendering.table
      let key = AnimationKey(content: content, rendition: Rendition(size: size, table: table))[0]
      try store.store(CachedFrame(makePixels(size, seed: width)), for: key)
    }
    #expect(store.statistics.frameCount == 70)
    #expect(store.statistics.tables.count == 70)
    #expect(try store.verify() == (70, 0))
    store.remove(content)
    #expect(store.statistics.frameCount == 0)
    #expect(store.lastError == nil)
  }

  @Test func `verifying removes a table with a damaged header, and storing replaces one`() throws {
    let scratch = try ScratchDirectory()
    let directory = scratch.path.appending("store")
    let key = makeAnimation(1, width: size.width, height: size.height)[0]
    let frame = CachedFrame(makePixels(size, seed: 1))
    try FrameStore(at: directory).store(frame, for: key)
    let name = try #require(
      FileManager.default.contentsOfDirectory(atPath: directory.string)
        .first { $0.hasSuffix(".frames") })
    let table = directory.appending(name)
    try table.flip(60)
    let store = try FrameStore(at: directory)
    #expect(store.frame(for: key) == nil)
    #expect(store.lastError?.code == .storeDamaged)
    #expect(try store.verify() == (0, 1))
    #expect(!FileManager.default.fileExists(atPath: table.string))
    #expect(try store.verify() == (0, 0))
    try store.store(frame, for: key)
    try table.flip(60)
    let next = try FrameStore(at: directory)
    #expect(next.frame(for: key) == nil)
    try next.store(frame, for: key)
    #expect(next.bitmap(for: key) == frame.bitmap)
  }

  @Test func `a frame of a new size evicts a few of another table, not all of it`() throws {
    let scratch = try ScratchDirectory()
    let limit = 8192 * 18
    let store = try FrameStore(at: scratch.path.appending("store"), byteLimit: limit)
    let animation = makeAnimation(1, width: size.width, height: size.height)
    for index in 0..<16 {
      try store.store(CachedFrame(makePixels(size, seed: index)), for: animation[index])
    }
    let small = PixelSize(width: 16, height: 16)
    let key = makeAnimation(2, width: 16, height: 16)[0]
    try store.store(CachedFrame(makePixels(small, seed: 1)), for: key)
    #expect(store.contains(key))
    #expect((0..<16).count { store.contains(animation[$0]) } >= 10)
    #expect(store.isWithin(limit))
  }

  @Test func `the table of a new size takes the space of what is in it`() throws {
    let scratch = try ScratchDirectory()
    let store = try FrameStore(at: scratch.path.appending("store"), byteLimit: 256 << 20)
    let size = PixelSize(width: 16, height: 16)
    let key = makeAnimation(1, width: 16, height: 16)[0]
    try store.store(CachedFrame(makePixels(size, seed: 1)), for: key)
    #expect(try #require(store.statistics.tables.first).capacity == 8192)
    // The header, the times of use, one page of entries and one of pixels.
    #expect(store.statistics.byteCount <= 4 * 4096 + 8 * 8192)
  }

  @Test func `a store that lost its secret is still one, and a file is none`() throws {
    let scratch = try ScratchDirectory()
    let directory = scratch.path.appending("store")
    #expect(try !FrameStore.exists(at: directory))
    let key = makeAnimation(1, width: size.width, height: size.height)[0]
    try FrameStore(at: directory).store(CachedFrame(makePixels(size, seed: 1)), for: key)
    #expect(try FrameStore.exists(at: directory))
    let secret = directory.appending("secret")
    try FileManager.default.removeItem(atPath: secret.string)
    #expect(try FrameStore.exists(at: directory))
    let file = scratch.path.appending("file")
    try Data().write(to: URL(filePath: file.string))
    #expect(throws: AnimatedImageError.self) { try FrameStore.exists(at: file) }
  }
}
