import Foundation
import Synchronization
import SystemPackage
import TestRunning
import Testing
import Zoetrope

// What a full store gives up if calls of the system fail, and how often it lists its directory. Only debug builds can
// let calls fail.
#if DEBUG
  extension StoreEvictionTests {
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

    @Test func `storing fails with the error of a directory that cannot be listed`() throws {
      let (store, film) = (try open(), Film(1, count: 3))
      failing(.list, EIO) {
        for key in film.keys {
          let error = #expect(throws: AnimatedImageError.self) {
            try store.store(film.frame, for: key)
          }
          #expect(error?.code == .io)
        }
      }
      // The failed opening of the table is remembered for a second.
      time.advance(by: 1)
      try film.store(in: store)
      #expect(film.kept(in: store) == 3)
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
  }
#endif
