import Foundation
import Synchronization
import SystemPackage
import TestRunning
import Testing
import Zoetrope

/// What a full store gives up.
@Suite(.timeLimit(.minutes(10)), .startsThreads) struct StoreEvictionTests {
  private static let limit = 2 << 20
  var limit: Int { Self.limit }
  /// Pages of 4096 bytes, two for each frame of 40x30.
  private static let stride = 8192

  private let scratch: ScratchDirectory
  let time = Time()

  init() throws { scratch = try ScratchDirectory(inMemory: true) }

  /// A wall clock that a test sets. It advances by a microsecond whenever it is read.
  final class Time: Sendable {
    private let nanoseconds = Mutex<Int64>(1_000_000_000_000_000)

    func advance(by seconds: Int64) { nanoseconds.withLock { $0 += seconds * 1_000_000_000 } }
    var now: Int64 {
      nanoseconds.withLock { nanoseconds in
        nanoseconds += 1000
        return nanoseconds
      }
    }
  }

  var directory: FilePath { scratch.path.appending("store") }

  func open(_ limit: Int = limit) throws -> FrameStore {
    try FrameStore(at: directory, byteLimit: limit) { [time] in time.now }
  }

  /// The frames of one film in one size. They have the same pixels.
  struct Film {
    let keys: [FrameKey]
    let frame: CachedFrame

    init(_ number: Int, width: Int = 40, count: Int) {
      let animation = makeAnimation(number, width: width, height: 30)
      keys = (0..<count).map { animation[$0] }
      frame = CachedFrame(makePixels(PixelSize(width: width, height: 30), seed: number))
    }

    func store(in store: FrameStore) throws {
      for key in keys { try store.store(frame, for: key) }
    }

    func hits(in store: FrameStore) -> Int { keys.count { store.frame(for: $0) != nil } }
    func kept(in store: FrameStore) -> Int { keys.count { store.contains($0) } }
  }

  @Test func `a full store takes one size after the other`() throws {
    // The tables themselves take some space too.
    let count = limit * 8 / 10 / Self.stride
    var films = [Film(1, count: count)]
    try films[0].store(in: open())
    for number in 2...10 {
      let film = Film(number, width: 38 + number, count: count)
      // As if by another process.
      let store = try open()
      try film.store(in: store)
      #expect(film.hits(in: store) * 10 >= count * 9, "size \(number)")
      #expect(store.statistics.byteCount <= limit)
      films.append(film)
    }
    // So the old ones gave way.
    #expect(films.dropLast(2).allSatisfy { film in (try? film.kept(in: open())) == 0 })
  }

  @Test func `of two sizes, the frames that were not used for longest give way`() throws {
    let (old, used, new) = (Film(1, count: 80), Film(2, width: 41, count: 80), Film(3, count: 90))
    let store = try open()
    try used.store(in: store)
    time.advance(by: 10)
    try old.store(in: store)
    time.advance(by: 10)
    #expect(used.hits(in: store) == 80)
    time.advance(by: 10)
    try new.store(in: store)
    #expect(used.kept(in: store) == 80)
    #expect(new.kept(in: store) == 90)
    #expect(old.kept(in: store) > 40)
    #expect(store.statistics.byteCount <= limit)
  }

  @Test func `looking a frame up writes its time at most once a second`() throws {
    let (store, film) = (try open(), Film(1, count: 1))
    try film.store(in: store)
    let table = try #require(ScratchDirectory.tables(in: directory).first)
    func bytes() throws -> Data { try Data(contentsOf: URL(filePath: table.string)) }
    let first = try bytes()
    #expect(film.hits(in: store) == 1)
    #expect(try bytes() == first)
    time.advance(by: 1)
    #expect(film.hits(in: store) == 1)
    let second = try bytes()
    #expect(second != first)
    #expect(film.hits(in: store) == 1)
    #expect(try bytes() == second)
    // A clock that is set back by years, and frames that were stored before.
    time.advance(by: -100_000)
    #expect(film.hits(in: store) == 1)
    #expect(try bytes() != second)
  }

  @Test func `frames of a wrong clock are the first to give way`() throws {
    let (store, wrong, right) = (try open(), Film(1, count: 100), Film(2, count: 100))
    time.advance(by: 1_000_000)
    try wrong.store(in: store)
    time.advance(by: -1_000_000)
    try right.store(in: store)
    try Film(3, count: 100).store(in: store)
    #expect(right.kept(in: store) == 100)
    #expect(wrong.kept(in: store) < 60)
  }

  @Test func `frames in use elsewhere stay, and so does their table`() throws {
    let (old, new) = (Film(1, count: 100), Film(2, width: 41, count: 220))
    let (reader, writer) = (try open(), try open())
    try old.store(in: reader)
    let leases = old.keys.compactMap { reader.bitmap(for: $0) }
    #expect(leases.count == 100)
    time.advance(by: 3600)
    try new.store(in: writer)
    #expect(old.kept(in: reader) == 100)
    #expect(leases.allSatisfy { $0 == old.frame.bitmap })
    #expect(new.kept(in: writer) > 100)
    #expect(writer.statistics.byteCount <= limit)
    try writer.prune(to: 0)
    #expect(old.hits(in: reader) == 100)
    #expect(ScratchDirectory.tables(in: directory).count == 1)
  }

  @Test func `an empty table that somebody has open stays until they close it`() throws {
    let film = Film(1, count: 3)
    do {
      let reader = try open()
      try film.store(in: reader)
      reader.remove(film.keys[0].animation.content)
      try open().prune(to: 0)
      #expect(ScratchDirectory.tables(in: directory).count == 1)
      try film.store(in: reader)
      #expect(film.hits(in: try open()) == 3)
    }
    // A program that another test starts has the files of this process open until it runs.
    while !ScratchDirectory.tables(in: directory).isEmpty { try open().prune(to: 0) }
  }

  @Test func `a table is free once it is closed, also while a child has its descriptor`() throws {
    do {
      let store = try open()
      try Film(1, count: 3).store(in: store)
    }
    var copies: [FileDescriptor] = []
    do {
      let store = try open()
      #expect(Film(1, count: 3).hits(in: store) == 3)
      var numbers: [Int32] = []
      for name in try FileSystem.names(in: "/proc/self/fd") {
        let path = FileSystem.destination(ofLink: FilePath("/proc/self/fd").appending(name))
        guard let path, path.string.hasPrefix(directory.string + "/") else { continue }
        if let number = Int32(name) { numbers.append(number) }
      }
      // As in a child between `fork` and `exec`.
      copies = try numbers.map { try FileDescriptor(rawValue: $0).duplicate() }
    }
    #expect(copies.count == 1)
    try open().prune(to: 0)
    #expect(ScratchDirectory.tables(in: directory).isEmpty)
    for copy in copies { try copy.close() }
  }

  @Test func `files being written by others stay, and old leftovers are removed`() throws {
    let store = try open()
    try Film(1, count: 200).store(in: store)
    let table = try #require(ScratchDirectory.tables(in: directory).first)
    let (fresh, stale) = (table.string + ".12ab.new", table.string + ".12ac.new")
    for path in [fresh, stale] { try Data(count: 50_000).write(to: URL(filePath: path)) }
    for (path, age) in [(fresh, 10), (stale, 100)] {
      try FilePath(path).setPermissions(0o600)
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: Double(1_000_000 - age))],
        ofItemAtPath: path)
    }
    try Film(2, count: 100).store(in: store)
    #expect(FileManager.default.fileExists(atPath: fresh))
    #expect(!FileManager.default.fileExists(atPath: stale))
  }

  @Test func `a table that was copied without its holes gets them back`() throws {
    let film = Film(1, count: 20)
    try film.store(in: open())
    let table = try #require(ScratchDirectory.tables(in: directory).first)
    let bytes = try Data(contentsOf: URL(filePath: table.string))
    try bytes.write(to: URL(filePath: table.string))
    let store = try open()
    #expect(store.statistics.byteCount > limit)
    let other = Film(2, width: 41, count: 100)
    try other.store(in: store)
    #expect(other.hits(in: store) == 100 && film.hits(in: store) == 20)
    #expect(store.statistics.byteCount <= limit)
  }

  @Test func `visiting every table closes none that is in use`() throws {
    let store = try open()
    let films = (0..<20).map { Film($0, width: 20 + $0, count: 2) }
    for film in films { try film.store(in: store) }
    let hot = films[19]
    let lease = try #require(store.bitmap(for: hot.keys[0]))
    for film in films[..<15] {
      #expect(film.hits(in: store) == 2)
      #expect(hot.hits(in: store) == 2)
    }
    #expect(store.statistics.frameCount == 40)
    #expect(try store.verify() == (40, 0))
    let table = try #require(
      ScratchDirectory.tables(in: directory).first { $0.string.contains("/39x30-") })
    // Pixels that were verified are not read again while their table is open.
    let bytes = try Data(contentsOf: URL(filePath: table.string))
    let pixels = unsafe lease.bytes.withUnsafeBytes { unsafe Data($0.prefix(64)) }
    let place = try #require(bytes.range(of: pixels)).lowerBound
    #expect(store.statistics.frameCount == 40)
    try table.flip(place)
    #expect(hot.hits(in: store) == 2)
  }

  @Test func `tables of which no frame is in use are closed when descriptors run out`() throws {
    let store = try open()
    let films = (0..<4).map { Film($0, width: 40 + $0, count: 2) }
    for film in films { try film.store(in: store) }
    let lease = try #require(store.bitmap(for: films[1].keys[0]))
    var closed = 0
    while store.closeIdleFile() { closed += 1 }
    #expect(closed == 3)
    #expect(lease == films[1].frame.bitmap)
    #expect(films.allSatisfy { $0.hits(in: store) == 2 })
  }

  @Test func `frames larger than what may remain go before older ones that can stay`() throws {
    let (small, large) = (Film(1, count: 20), Film(2, width: 4000, count: 3))
    let store = try open()
    try small.store(in: store)
    time.advance(by: 10)
    try large.store(in: store)
    #expect(small.kept(in: store) == 20 && large.kept(in: store) == 3)
    try store.prune(to: 300_000)
    #expect(small.kept(in: store) == 20 && large.kept(in: store) == 0)
    #expect(store.statistics.byteCount <= 300_000)
  }

  @Test func `pruning gives up the oldest of several sizes first`() throws {
    let store = try open()
    let films = (1...4).map { Film($0, width: 38 + $0, count: 40) }
    for film in films {
      try film.store(in: store)
      time.advance(by: 10)
    }
    try store.prune(to: 300_000)
    #expect(films.dropLast().allSatisfy { $0.kept(in: store) == 0 })
    #expect(films[3].kept(in: store) > 20)
    #expect(store.statistics.byteCount <= 300_000)
  }

  @Test func `frames smaller than their slots count for what they take`() throws {
    let format = FrameFormat("box", size: PixelSize(width: 300, height: 300), maximumCount: 64)
    let store = try FrameStore(at: directory, byteLimit: limit, formats: [format]) { [time] in
      time.now
    }
    let size = PixelSize(width: 20, height: 20)
    let animation = AnimationKey(
      content: makeAnimation(1, width: 20, height: 20).content,
      rendition: Rendition(size: size, table: format.rendering.table))
    let frame = CachedFrame(makePixels(size, seed: 1))
    // A page for each frame, where a slot has 88. The limit has room for a few slots.
    for index in 0..<8 {
      try store.store(frame, for: animation[index])
      time.advance(by: 10)
    }
    let all = store.statistics.byteCount
    try store.prune(to: all - 4 * 4096)
    #expect(store.statistics.byteCount <= all - 4 * 4096)
    #expect((0..<8).map { store.contains(animation[$0]) } == (0..<8).map { $0 >= 4 })
  }
}
