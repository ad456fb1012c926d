import Foundation
import Synchronization
import SystemPackage
import TestRunning
import Testing
import Zoetrope

/// What a full store gives up.
@Suite(.timeLimit(.minutes(10)), .startsThreads) struct StoreEvictionTests {
  private static let limit = 2 << 20
  private var limit: Int { Self.limit }
  /// Pages of 4096 bytes, two for each frame of 40x30.
  private static let stride = 8192

  private let scratch: ScratchDirectory
  private let time = Time()

  init() throws { scratch = try ScratchDirectory(inMemory: true) }

  /// A wall clock that a test sets. It advances by a microsecond whenever it is read.
  private final class Time: Sendable {
    private let nanoseconds = Mutex<Int64>(1_000_000_000_000_000)

    func advance(by seconds: Int64) { nanoseconds.withLock { $0 += seconds * 1_000_000_000 } }
    var now: Int64 {
      nanoseconds.withLock { nanoseconds in
        nanoseconds += 1000
        return nanoseconds
      }
    }
  }

  private var directory: FilePath { scratch.path.appending("store") }

  private func open(_ limit: Int = limit) throws -> FrameStore {
    try FrameStore(at: directory, byteLimit: limit) { [time] in time.now }
  }

  /// The frames of one film in one size. They have the same pixels.
  private struct Film {
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

  #if DEBUG
    private func failing<Result>(
      _ call: TableCall, _ number: Int32, _ body: () throws -> Result
    ) rethrows -> Result {
      try TableCall.$plan.withValue({ $0 == call ? .error(number) : nil }, operation: body)
    }

    @Test func `a table without holes makes room on a file system that cannot punch any`() throws {
      let film = Film(1, count: 20)
      try film.store(in: open())
      let table = try #require(ScratchDirectory.tables(in: directory).first)
      let bytes = try Data(contentsOf: URL(filePath: table.string))
      try bytes.write(to: URL(filePath: table.string))
      try failing(.punch, EOPNOTSUPP) {
        let store = try open()
        #expect(store.statistics.byteCount > limit)
        // A program that another test starts has the files of this process open until it runs.
        while store.statistics.byteCount > 0 { try? store.prune(to: 0) }
        try Film(2, width: 41, count: 1).store(in: store)
      }
    }

    @Test(arguments: [
      (TableCall.open, EIO), (.read, EIO), (.map, ENOMEM), (.lock, ENOLCK), (.stat, EIO),
    ])
    func `an error with the tables of other sizes costs them nothing`(
      call: TableCall, number: Int32
    ) throws {
      let store = try open()
      let films = (0..<3).map { Film($0, width: 40 + $0, count: 80) }
      for film in films { try film.store(in: store) }
      let before = films[..<2].map { $0.kept(in: store) }
      // In this process their tables are not open, and a further one has its failure.
      let writer = try open()
      #expect(films[2].hits(in: writer) > 0)
      failing(call, number) {
        for film in films[..<2] { _ = film.hits(in: writer) }
        for index in 0..<40 {
          let key = makeAnimation(7, width: 42, height: 30)[index]
          try? writer.store(films[2].frame, for: key)
        }
      }
      // Frames are evicted without mapping them.
      #expect(call == .map || films[..<2].map { $0.kept(in: store) } == before)
      #expect(films.reduce(0) { $0 + $1.kept(in: store) } > 180)
      #expect(ScratchDirectory.tables(in: directory).count == 3)
      #expect(try store.verify().dropped == 0)
    }

    @Test func `a directory that cannot be listed is not filled further`() throws {
      let (store, film) = (try open(), Film(1, count: 400))
      try film.store(in: store)
      let writer = try open()
      let count = Atomic(0)
      TableCall.$plan.withValue({ call in
        if call == .list { count.add(1, ordering: .relaxed) }
        return call == .list ? .error(EIO) : nil
      }) {
        for key in Film(2, count: 100).keys { writer.storeIfPossible(film.frame, for: key) }
      }
      #expect(count.load(ordering: .relaxed) == 1)
      #expect(store.statistics.byteCount <= limit)
    }

    @Test func `while every frame is in use, the directory is not listed for every frame`() throws {
      let (reader, film) = (try open(), Film(1, count: 400))
      try film.store(in: reader)
      let leases = film.keys.compactMap { reader.bitmap(for: $0) }
      let (writer, other) = (try open(), Film(2, width: 41, count: 100))
      let count = Atomic(0)
      TableCall.$plan.withValue({ call in
        if call == .list { count.add(1, ordering: .relaxed) }
        return nil
      }) {
        for key in other.keys { writer.storeIfPossible(other.frame, for: key) }
      }
      #expect(other.kept(in: writer) < 20)
      #expect(count.load(ordering: .relaxed) < 10)
      #expect(writer.lastError?.code == .storeFull)
      #expect(leases.allSatisfy { $0 == film.frame.bitmap })
      // A second later, what was let go of gives way.
      _ = consume leases
      time.advance(by: 1)
      try other.store(in: writer)
      #expect(other.kept(in: writer) == 100)
      #expect(writer.statistics.byteCount <= limit)
    }

    @Test func `the directory is not listed for every frame`() throws {
      let (store, film) = (try FrameStore(at: directory, byteLimit: 32 << 20), Film(1, count: 300))
      let count = Atomic(0)
      TableCall.$plan.withValue({ call in
        if call == .list { count.add(1, ordering: .relaxed) }
        return nil
      }) {
        for key in film.keys { store.storeIfPossible(film.frame, for: key) }
      }
      #expect(store.statistics.frameCount == 300)
      // A 64th of the limit is 64 frames. The clock may end a share early.
      #expect(count.load(ordering: .relaxed) < 100)
    }

    // A short one, as where blocks are larger than the hole, frees nothing.
    @Test(arguments: [false, true])
    func `without hole punching, a full store stays full`(isShort: Bool) throws {
      try TableCall.$plan.withValue({
        $0 != .punch ? nil : isShort ? .short : .error(EOPNOTSUPP)
      }) {
        let (first, second) = (try open(), try open())
        // As with two processes, each may take a 64th that the other does not know of.
        let most = limit + limit / 64
        try Film(1, count: 300).store(in: first)
        let full = first.statistics.frameCount
        #expect(full > 200)
        var leases: [Bitmap] = []
        for number in 2..<6 {
          let film = Film(number, count: 100)
          for key in film.keys {
            for store in [first, second] {
              store.storeIfPossible(film.frame, for: key)
              if let bitmap = store.bitmap(for: key) { leases.append(bitmap) }
              if leases.count > 20 { leases.removeFirst() }
            }
          }
          #expect(film.hits(in: second) > 90)
          #expect(first.statistics.frameCount >= full * 9 / 10)
          #expect(first.statistics.byteCount <= most)
        }
        // Another size has to wait until the former was unused for a while and is closed.
        let other = Film(7, width: 41, count: 100)
        #expect(throws: AnimatedImageError.self) { try other.store(in: first) }
        #expect(first.statistics.frameCount >= full * 9 / 10)
        // What is removed is no space for others, but is filled again at no cost.
        first.remove(Film(5, count: 1).keys[0].animation.content)
        #expect(first.statistics.frameCount < full)
        try Film(8, count: 100).store(in: first)
        #expect(Film(8, count: 100).hits(in: first) > 90)
        #expect(first.statistics.byteCount <= most)
      }
    }

    @Test(arguments: [false, true])
    func `without hole punching, a table that nobody uses makes room for another`(
      isShort: Bool
    ) throws {
      try TableCall.$plan.withValue({
        $0 != .punch ? nil : isShort ? .short : .error(EOPNOTSUPP)
      }) {
        try Film(1, count: 300).store(in: open())
        time.advance(by: 61)
        let store = try open()
        let other = Film(2, width: 41, count: 100)
        // A program that another test starts has the files of this process open until it runs.
        while (try? other.store(in: store)) == nil { time.advance(by: 1) }
        #expect(other.hits(in: store) == 100)
        #expect(store.statistics.tables.count == 1)
        while store.statistics.byteCount > 0 { try? store.prune(to: 0) }
      }
    }

    @Test func `a table that takes long to open holds up no other`() throws {
      let store = try open()
      let (ready, slow) = (Film(1, count: 1), Film(2, width: 41, count: 1))
      try ready.store(in: store)
      try slow.store(in: open())
      let (reached, resumes, ended) = (ThreadSignal(), ThreadSignal(), ThreadSignal())
      let hits = Atomic(0)
      let thread = Thread {
        TableCall.$plan.withValue({ call in
          if call == .map {
            reached.post()
            resumes.wait()
          }
          return nil
        }) { hits.store(slow.hits(in: store), ordering: .relaxed) }
        ended.post()
      }
      thread.start()
      reached.wait()
      #expect(ready.hits(in: store) == 1)
      #expect(store.statistics.frameCount == 2)
      resumes.post()
      ended.wait()
      #expect(hits.load(ordering: .relaxed) == 1)
    }
  #endif

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
