import Foundation
import SystemPackage
import Testing
import Zoetrope

/// A store in a directory that also has other files.
@Suite(.timeLimit(.minutes(1))) struct StoreFilesTests {
  private let size = PixelSize(width: 40, height: 30)

  @Test func `files of others are neither counted nor removed`() throws {
    let scratch = try ScratchDirectory()
    let directory = scratch.path.appending("home")
    let limit = 8192 * 18
    let store = try FrameStore(at: directory, byteLimit: limit)
    let others = [
      "letter.txt", "frames", "a.new", "a.frames.txt", "secret.txt", "secret.x.new",
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
      store.store(CachedFrame(makePixels(size, seed: index)), for: animation[index])
    }
    #expect(store.statistics.frameCount > 10)
    let small = makeAnimation(2, width: 16, height: 16)
    store.store(
      CachedFrame(makePixels(PixelSize(width: 16, height: 16), seed: 1)), for: small[0])
    #expect(store.statistics.byteCount <= limit)
    try store.prune(to: limit / 2)
    try store.prune(to: 0)
    store.removeAll()
    #expect(store.statistics.byteCount == 0)
    for name in others {
      #expect(FileManager.default.fileExists(atPath: directory.appending(name).string), "\(name)")
    }
  }

  @Test func `what killed writers left is removed`() throws {
    let scratch = try ScratchDirectory()
    let directory = scratch.path.appending("store")
    let store = try FrameStore(at: directory)
    let key = makeAnimation(1, width: size.width, height: size.height)[0]
    try store.keep(CachedFrame(makePixels(size, seed: 1)), for: key)
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
}
