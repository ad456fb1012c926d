import Foundation
import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeStore
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10)), .startsThreads) struct FrameStoreTests {
  private let scratch: ScratchDirectory
  private let size = PixelSize(width: 40, height: 30)

  init() throws { scratch = try ScratchDirectory() }

  private var directory: FilePath { scratch.path.appending("store") }

  private func open(_ limit: Int = 1 << 20) throws -> FrameStore {
    try FrameStore(at: directory, byteLimit: limit)
  }

  private func key(_ number: Int, _ index: Int) -> FrameKey {
    makeAnimation(number, width: size.width, height: size.height)[index]
  }

  private func frame(_ seed: Int) -> CachedFrame { CachedFrame(makePixels(size, seed: seed)) }

  @Test func `a frame is found by another instance, pixels, damage and all`() throws {
    let damage = Damage(
      .lzwTruncated, "the data ends after 3 of 9 pixels", frameIndex: 4, byteOffset: 77,
      validRows: 0)
    let kept = CachedFrame(makePixels(size, seed: 5), damage: damage)
    try open().store(kept, for: key(1, 4))
    let found = try #require(try open().frame(for: key(1, 4)))
    #expect(found.bitmap == kept.bitmap)
    #expect(found.damage == damage)
    #expect(found.damage?.kind.isTolerated == damage.kind.isTolerated)
    #expect(try open().frame(for: key(1, 5)) == nil)
    #expect(try open().frame(for: key(2, 4)) == nil)
  }

  @Test func `damage that takes too long to describe is refused with its frame`() throws {
    let detail = String(repeating: "a", count: 160)
    let damage = Damage(.lzwTruncated, detail, frameIndex: 4, byteOffset: 77, validRows: 0)
    let store = try open()
    let error = #expect(throws: AnimatedImageError.self) {
      try store.store(CachedFrame(makePixels(size, seed: 5), damage: damage), for: key(1, 4))
    }
    #expect(error?.code == .parameter)
    #expect(store.frame(for: key(1, 4)) == nil)
    #expect(try store.verify().intact == 0)
  }

  @Test func `every part of the rendering makes another frame`() throws {
    let store = try open()
    let content = key(1, 0).animation.content
    let renditions = [
      Rendition.canvas(size), .canvas(size, damage: .partialRows),
      Rendition(size: size, scaling: .init(fit: .fit, filter: .box)),
      Rendition(size: size, scaling: .init(fit: .fill, filter: .box)),
      Rendition(size: size, scaling: .init(fit: .fit, filter: .bilinear)),
      Rendition(size: size, scaling: .init(fit: .fit, filter: .box, linearLight: true)),
      Rendition(size: size, scaling: .init(fit: .fit, filter: .box, pixelAspect: 2)),
      Rendition(size: size, canvasFormat: .rgba16),
    ]
    for (seed, rendition) in renditions.enumerated() {
      try store.store(
        frame(seed), for: AnimationKey(content: content, rendition: rendition)[0])
    }
    for (seed, rendition) in renditions.enumerated() {
      let found = store.frame(for: AnimationKey(content: content, rendition: rendition)[0])
      #expect(found?.bitmap == frame(seed).bitmap)
    }
  }

  @Test func `a canvas that starts as a frame of a store does not write to it`() throws {
    let store = try open()
    try store.store(frame(1), for: key(1, 0))
    let bounds = PixelRect(size)
    // The canvas has the only reference to the pixels.
    var canvas = Canvas(try #require(store.bitmap(for: key(1, 0))))
    try canvas.clear(PixelRect(x: 3, y: 3, width: 5, height: 5))
    #expect(canvas.bitmap[0, 0] == frame(1).bitmap[0, 0])
    #expect(canvas.bitmap[4, 4] == .clear)
    try canvas.clear(bounds)
    var other = Canvas(try #require(store.bitmap(for: key(1, 0))))
    let saved = try other.copy(PixelRect(x: 0, y: 0, width: 9, height: 9))
    try other.restore(saved)
    var third = Canvas(try #require(store.bitmap(for: key(1, 0))))
    try third.makeUnique(changing: bounds, keepsContent: false)
    #expect(store.bitmap(for: key(1, 0)) == frame(1).bitmap)
  }

  @Test func `a lease outlives the store, its files and its directory`() throws {
    var bitmap: Bitmap?
    do {
      let store = try open()
      try store.store(frame(9), for: key(1, 0))
      bitmap = store.bitmap(for: key(1, 0))
      store.removeAll()
      #expect(store.frame(for: key(1, 0)) == nil)
    }
    try FileManager.default.removeItem(atPath: directory.string)
    #expect(bitmap == frame(9).bitmap)
  }

  @Test func `with every frame in use, a new one is refused and none is replaced`() throws {
    let writer = try open(8192 * 18)
    let reader = try open(8192 * 18)
    var leases: [Bitmap] = []
    for index in 0..<16 {
      try writer.store(frame(index), for: key(1, index))
      // In the same process and in what counts as another one.
      let store = index % 2 == 0 ? writer : reader
      leases.append(try #require(store.bitmap(for: key(1, index))))
    }
    for round in 0..<20 {
      let error = #expect(throws: AnimatedImageError.self) {
        try writer.store(frame(99), for: key(2, round))
      }
      #expect(error?.code == .storeBusy)
    }
    for index in 0..<16 { #expect(leases[index] == frame(index).bitmap) }
    leases = []
    try writer.store(frame(99), for: key(2, 0))
    #expect(reader.bitmap(for: key(2, 0)) == frame(99).bitmap)
  }

  @Test func `without room for one frame the store is full, not busy`() throws {
    let store = try open(8192)
    let error = #expect(throws: AnimatedImageError.self) {
      try store.store(frame(1), for: key(1, 0))
    }
    #expect(error?.code == .storeFull)
  }

  @Test func `a store has a path, and a frame the size of its key`() throws {
    let nowhere = #expect(throws: AnimatedImageError.self) { try FrameStore(at: "") }
    #expect(nowhere?.code == .parameter)
    let store = try open()
    for (width, height) in [(0, 0), (0, 30), (41, 30)] {
      let key = makeAnimation(1, width: width, height: height)[0]
      let error = #expect(throws: AnimatedImageError.self) { try store.store(frame(1), for: key) }
      #expect(error?.code == .parameter)
    }
    #expect(scratchTables.isEmpty)
  }

  @Test func `a relative path is kept as given, and made absolute for files`() throws {
    let depth = FilePath(FileManager.default.currentDirectoryPath).components.count
    let up = FilePath(String(repeating: "../", count: depth) + ".")
    let relative = up.appending(directory.components)
    let store = try FrameStore(at: relative, byteLimit: 1 << 20)
    #expect(store.directory == relative)
    #expect(store.location.isAbsolute)
    try store.store(frame(5), for: key(1, 4))
    #expect(try open().contains(key(1, 4)))
  }

  @Test func `it behaves as a dictionary that may forget`() throws {
    let stores = [try open(8192 * 40), try open(8192 * 40)]
    var expected: [FrameKey: Int] = [:]
    var random = SplitMix64(seed: 125)
    var hits = 0
    for step in 0..<1500 {
      let store = stores[Int.random(in: 0..<2, using: &random)]
      let key = key(Int.random(in: 0..<4, using: &random), Int.random(in: 0..<30, using: &random))
      switch Int.random(in: 0..<40, using: &random) {
      case 0:
        store.remove(key.animation.content)
        expected = expected.filter { $0.key.animation.content != key.animation.content }
      case 1:
        store.removeAll(size: size)
        expected = [:]
      case 2:
        store.remove(key.animation.content, size: size)
        expected = expected.filter { $0.key.animation.content != key.animation.content }
      case 3..<20:
        try store.store(frame(step), for: key)
        expected[key] = step
      default:
        guard let found = store.bitmap(for: key) else { break }
        hits += 1
        let seed = try #require(expected[key])
        #expect(found == frame(seed).bitmap)
      }
    }
    #expect(hits > 30)
    #expect(stores[0].lastError == nil || stores[0].lastError?.code == .storeDamaged)
  }

  @Test func `the byte limit holds over all sizes, and what was removed is given back`() throws {
    let limit = 512 << 10
    let store = try open(limit)
    for round in 0..<400 {
      let side = 16 + round / 100 * 24
      let animation = makeAnimation(round % 3, width: side, height: side)
      let pixels = makePixels(PixelSize(width: side, height: side), seed: round)
      store.storeIfPossible(CachedFrame(pixels), for: animation[round])
      #expect(store.isWithin(limit))
    }
    #expect(store.statistics.frameCount > 10)
    let before = store.statistics.byteCount
    store.remove(makeAnimation(0).content)
    store.remove(makeAnimation(1).content)
    store.remove(makeAnimation(2).content)
    #expect(store.statistics.frameCount == 0)
    #expect(store.statistics.byteCount < before / 2)
    try store.prune(to: 0)
    #expect(store.statistics.byteCount == 0)
  }

  @Test func `removing reaches a table that others made anew`() throws {
    let (first, second) = (try open(), try open())
    try first.store(frame(1), for: key(1, 0))
    #expect(second.frame(for: key(1, 0)) != nil)
    first.removeAll(size: size)
    try first.store(frame(2), for: key(1, 0))
    // Its own table is the one that was removed.
    second.remove(key(1, 0).animation.content)
    #expect(first.frame(for: key(1, 0)) == nil)
  }

  @Test func `a removed directory is made anew`() throws {
    let store = try open()
    try store.store(frame(1), for: key(1, 0))
    try FileManager.default.removeItem(atPath: directory.string)
    #expect(store.frame(for: key(1, 0)) == nil)
    try store.store(frame(2), for: key(1, 0))
    #expect(store.bitmap(for: key(1, 0)) == frame(2).bitmap)
    #expect(try open().bitmap(for: key(1, 0)) == frame(2).bitmap)
  }

  @Test func `a directory that cannot be created is no damaged store`() throws {
    let scratch = try ScratchDirectory()
    let link = scratch.path.appending("link")
    try FileManager.default.createSymbolicLink(
      atPath: link.string, withDestinationPath: "/dev/null/zoetrope")
    for path in [link, link.appending("store")] {
      let error = #expect(throws: AnimatedImageError.self) { try FrameStore(at: path) }
      #expect(error?.code == .io && error?.systemError == .noSuchFileOrDirectory, "\(path)")
    }
  }

  @Test func `directories and files of others are refused`() throws {
    try open().store(frame(1), for: key(1, 0))
    try directory.setPermissions(0o755)
    #expect(throws: AnimatedImageError.self) { try open() }
    try directory.setPermissions(0o700)
    let table = try #require(scratchTables.first)
    try table.setPermissions(0o644)
    let store = try open()
    #expect(store.frame(for: key(1, 0)) == nil)
    #expect(store.lastError?.code == .storeDenied)
    let error = #expect(throws: AnimatedImageError.self) {
      try store.store(frame(1), for: key(1, 0))
    }
    #expect(error?.code == .storeDenied)
    try FileManager.default.removeItem(atPath: table.string)
    try FileManager.default.createSymbolicLink(
      atPath: table.string, withDestinationPath: "/etc/passwd")
    #expect(try open().frame(for: key(1, 0)) == nil)
    // A file where a directory should be.
    #expect(throws: AnimatedImageError.self) {
      try FrameStore(at: directory.appending("secret").appending("x"))
    }
  }

  private var scratchTables: [FilePath] {
    ((try? FileManager.default.contentsOfDirectory(atPath: directory.string)) ?? [])
      .filter { $0.hasSuffix(".frames") }.map { directory.appending($0) }
  }

  @Test func `no byte of header, entry or pixels that is flipped shows a wrong pixel`() throws {
    do {
      let store = try open(8192 * 18)
      for index in 0..<3 { try store.store(frame(index), for: key(1, index)) }
    }
    let table = try #require(scratchTables.first)
    let good = try Data(contentsOf: URL(filePath: table.string))
    let page = TableFile.pageSize
    let frames = (0..<3).map { frame($0) }
    // The header; every byte of an entry, in one of the entries in use; bytes here and there in the
    // pixels.
    let header = Array(0..<160)
    let entries = (0..<32).filter { (slot: Int) -> Bool in
      let start = 2 * page + slot * 256
      return good[start..<start + 256].contains { $0 != 0 }
    }
    #expect(entries.count == 3)
    let inEntries = (0..<256).map { 2 * page + entries[$0 % 3] * 256 + $0 }
    let inPixels = entries.flatMap { (slot: Int) -> [Int] in
      let start = 4 * page + slot * 8192
      return Array(stride(from: start, to: start + 192 * 30, by: 997))
    }
    var losses = 0
    for offset in header + inEntries + inPixels {
      try good.write(to: URL(filePath: table.string))
      try table.flip(offset, by: UInt8(1) << UInt8(offset % 8))
      let store = try open(8192 * 18)
      for index in 0..<3 {
        if let found = store.bitmap(for: key(1, index)) {
          #expect(found == frames[index].bitmap, "byte \(offset)")
        } else {
          losses += 1
        }
        try store.store(frames[index], for: key(1, index))
        #expect(store.bitmap(for: key(1, index)) == frames[index].bitmap)
      }
    }
    // Each flip in an entry or its pixels costs that frame at most; one in the header, the table.
    #expect(losses >= inEntries.count + inPixels.count)
    #expect(losses <= 3 * header.count + inEntries.count + inPixels.count)
  }

  @Test func `a table that is truncated while it is open is given up`() throws {
    for length in [0, 100, 4096, 4097, 8192, 9000, 12288, 20000, 40000] {
      let store = try open(8192 * 18)
      for index in 0..<3 { try store.store(frame(index), for: key(1, index)) }
      let lease = store.bitmap(for: key(1, 0))
      let table = try #require(scratchTables.first)
      try table.truncate(to: length)
      for index in 0..<3 {
        if let found = store.bitmap(for: key(1, index)) {
          #expect(found == frame(index).bitmap)
        }
      }
      // Its pixels are zeros, but it does not end the process.
      #expect(lease?[0, 0] != RGBA(red: 1, green: 2, blue: 3))
      try store.store(frame(7), for: key(1, 7))
      #expect(store.bitmap(for: key(1, 7)) == frame(7).bitmap)
    }
  }

  @Test func `a page that is missing leaves those behind it as they are`() throws {
    let size = TableFile.pageSize
    let path = directory.appending("pages")
    try FileManager.default.createDirectory(
      atPath: directory.string, withIntermediateDirectories: true)
    let file = try #require(try TableFile.open(path, creating: true))
    try unsafe file.write([UInt8](repeating: 1, count: 3 * size).span.bytes, at: 0)
    let mapping = try #require(TableMapping(file, byteCount: 3 * size))
    try path.truncate(to: size)
    #expect(mapping.word(at: 0) == 0x0101_0101_0101_0101)
    #expect(!mapping.hasGap)
    #expect(mapping.word(at: size) == 0)
    #expect(mapping.hasGap)
    try unsafe file.write([UInt8](repeating: 2, count: 2 * size).span.bytes, at: size)
    #expect(mapping.word(at: 2 * size) == 0x0202_0202_0202_0202)
  }

  @Test func `tables of older and newer versions are left alone, and pruned once unused`() throws {
    let store = try open()
    try store.store(frame(1), for: key(1, 0))
    let table = try #require(scratchTables.first)
    let name = table.lastComponent?.string ?? ""
    let stem = name[..<(name.range(of: "-v")?.lowerBound ?? name.endIndex)]
    let others = ["1.1", "99.1", "3.1", "2.9"].map {
      directory.appending("\(stem)-v\($0).frames")
    }
    for other in others {
      try FileManager.default.copyItem(atPath: table.string, toPath: other.string)
    }
    // Nor is one of them served under the name of this version: its header says what it is.
    store.removeAll(size: size)
    let second = try open()
    #expect(second.frame(for: key(1, 0)) == nil)
    try second.prune(to: 1 << 20)
    #expect(scratchTables.count == others.count)
    let old = Date.now - 120
    for other in others {
      try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: other.string)
    }
    try second.prune(to: 1 << 20)
    #expect(scratchTables.isEmpty)
  }

  @Test func `disk space of frames removed while in use is freed with their last bitmap`() throws {
    let store = try open()
    let allocated = { () throws -> Int in
      store.statistics.tables.reduce(0) { $0 + $1.byteCount }
    }
    try store.store(frame(0), for: key(2, 0))
    let before = try allocated()
    for index in 0..<8 { try store.store(frame(index), for: key(1, index)) }
    #expect(try allocated() >= before + 8 * 5760)
    var leases = (0..<8).compactMap { store.bitmap(for: key(1, $0)) }
    #expect(leases.count == 8)
    store.remove(key(1, 0).animation.content)
    #expect(try allocated() >= before + 8 * 5760)
    for (index, lease) in leases.enumerated() { #expect(lease == frame(index).bitmap) }
    leases = []
    // A file with many holes takes a block more for its map.
    #expect(try allocated() <= before + 8192)
    #expect(store.bitmap(for: key(2, 0)) == frame(0).bitmap)
  }

  @Test func `another secret finds nothing and harms nothing`() throws {
    let first = try open()
    try first.store(frame(1), for: key(1, 0))
    try directory.appending("secret").flip(5)
    let second = try open()
    #expect(second.frame(for: key(1, 0)) == nil)
    try second.store(frame(2), for: key(1, 0))
    #expect(first.bitmap(for: key(1, 0)) == frame(1).bitmap)
    #expect(second.bitmap(for: key(1, 0)) == frame(2).bitmap)
    #expect(scratchTables.count == 2)
  }

  @Test func `verifying drops what is not intact`() throws {
    let store = try open(8192 * 18)
    for index in 0..<3 { try store.store(frame(index), for: key(1, index)) }
    #expect(try store.verify() == (3, 0))
    let table = try #require(scratchTables.first)
    let bytes = try Data(contentsOf: URL(filePath: table.string))
    let page = TableFile.pageSize
    let slot = try #require(
      (0..<32).first { (slot: Int) -> Bool in
        let start = 2 * page + slot * 256
        return bytes[start..<start + 8].contains { $0 != 0 }
      })
    try table.flip(4 * page + slot * 8192 + 700)
    #expect(try store.verify() == (2, 1))
    #expect(try store.verify() == (2, 0))
  }

  @Test func `the identity of an image is the same in every store of the directory`() throws {
    let image = try AnimatedImage(bytes: SmallFilm.gif)
    let identity = try open().identity(of: image)
    #expect(try open().identity(of: image) == identity)
    #expect(try image.contentIdentity { false } != identity)
    let other = try FrameStore(at: scratch.path.appending("other"))
    #expect(try other.identity(of: image) != identity)
  }
}

/// A GIF of two pixels.
private enum SmallFilm {
  static let gif: [UInt8] =
    Array("GIF89a".utf8) + [2, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
    + [0x2c, 0, 0, 0, 0, 2, 0, 1, 0, 0, 2, 2, 0x44, 0x0a, 0, 0x3b]
}
