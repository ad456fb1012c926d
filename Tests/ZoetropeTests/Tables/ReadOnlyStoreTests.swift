#if DEBUG
  import Foundation
  import Glibc
  import Synchronization
  import SystemPackage
  import TestRunning
  import Testing
  import Zoetrope
  import ZoetropeTestSupport

  /// A store that this user may read but not write.
  @Suite(.timeLimit(.minutes(10)), .startsThreads) struct ReadOnlyStoreTests {
    private let scratch: ScratchDirectory
    private let size = PixelSize(width: 20, height: 10)
    private let film = FilePath(#filePath).removingLastComponent().removingLastComponent()
      .removingLastComponent().removingLastComponent()
      .appending("Fixtures/Demo/variable-delay.gif")

    init() throws {
      scratch = try ScratchDirectory()
      let store = try FrameStore(at: directory)
      for index in 0..<3 { try store.store(frame(index), for: key(index)) }
      _ = try store.identity(of: AnimatedImage(contentsOf: film, knownTo: store))
    }

    private var directory: FilePath { scratch.path.appending("store") }
    private func frame(_ seed: Int) -> CachedFrame { CachedFrame(makePixels(size, seed: seed)) }
    private func key(_ index: Int) -> FrameKey { makeAnimation(1, width: 20, height: 10)[index] }

    /// Runs `body` where files and directories may be read only.
    private func reading<Result>(_ body: () throws -> Result) rethrows -> Result {
      try TableCall.$plan.withValue(
        { $0 == .openWriting ? .error(EROFS) : nil }, operation: body)
    }

    private func state() throws -> [String] {
      try FileManager.default.subpathsOfDirectory(atPath: directory.string).sorted().map {
        let path = directory.appending($0).string
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return "\($0) \(attributes[.size] ?? 0) \(attributes[.modificationDate] ?? 0)"
      }
    }

    @Test func `it shows what it has, changes nothing and says so`() throws {
      let before = try state()
      try reading { () throws in
        let store = try FrameStore(at: directory)
        #expect(store.isReadOnly)
        for index in 0..<3 { #expect(store.bitmap(for: key(index)) == frame(index).bitmap) }
        #expect(store.frame(for: key(3)) == nil)
        let image = try AnimatedImage(contentsOf: film, knownTo: store)
        _ = try store.identity(of: image)
        #expect(try store.verify() == (3, 0))
        #expect(store.statistics.frameCount == 3)
        #expect(store.lastError == nil)
        store.storeIfPossible(frame(3), for: key(3))
        #expect(store.lastError?.code == .storeDenied)
        let error = #expect(throws: AnimatedImageError.self) {
          try store.store(frame(3), for: key(3))
        }
        #expect(error?.code == .storeDenied)
        let name = store.directory.string.debugDescription
        #expect(error?.detail.hasPrefix("\(name) is read-only") == true)
        #expect(throws: AnimatedImageError.self) { try store.prune(to: 0) }
        store.remove(key(0).animation.content)
        store.removeAll(size: size)
        store.removeAll()
      }
      #expect(try state() == before)
      #expect(try !FrameStore(at: directory).isReadOnly)
    }

    @Test func `stores that others may read are found, and those they may write are rejected`()
      throws
    {
      try directory.setPermissions(0o755)
      let tables = ScratchDirectory.tables(in: directory)
      for path in tables + [directory.appending("secret")] { try path.setPermissions(0o644) }
      try reading { () throws in
        #expect(try FrameStore(at: directory).frame(for: key(0)) != nil)
      }
      // To write it would be to show others what is stored.
      #expect(throws: AnimatedImageError.self) { try FrameStore(at: directory) }
      try tables[0].setPermissions(0o664)
      try reading { () throws in
        let store = try FrameStore(at: directory)
        #expect(store.frame(for: key(0)) == nil)
        #expect(store.lastError?.code == .storeDenied)
      }
      try directory.setPermissions(0o775)
      try reading { () throws in
        let error = #expect(throws: AnimatedImageError.self) { try FrameStore(at: directory) }
        #expect(error?.code == .storeDenied)
      }
    }

    /// The stamp of a file that last changed so many seconds ago. By default, it was modified at the same time.
    private static func stamp(
      changedBefore seconds: Int64, modifiedBefore others: Int64? = nil
    ) -> FileStamp {
      let now = FileStamp.now()
      return FileStamp(
        device: 1, inode: 2, byteCount: 3, modified: now - (others ?? seconds) * 1_000_000_000,
        changed: now - seconds * 1_000_000_000)
    }

    @Test func `a file that the store does not know is hashed once`() async throws {
      let source = CountingSource(DeltaGIF.make(width: 16, height: 16, frameCount: 6, patch: 4))
      source.currentStamp = Self.stamp(changedBefore: 100)
      // What the reader keeps must not go when memory gets short beside other tests.
      let image = try source.open().charged(to: MemoryBudget(byteLimit: 1 << 20))
      let store = try reading { () throws in try FrameStore(at: directory) }
      // A read for the identity, and one for each frame.
      for index in 0..<3 { _ = try await image.bitmap(at: index, cache: store) }
      #expect(source.count == 4)
      let cache = MemoryFrameCache(budget: MemoryBudget(), backing: store)
      for index in 3..<6 { _ = try await image.bitmap(at: index, cache: cache) }
      #expect(source.count == 7)
      // The file was touched, so its bytes may have changed.
      source.currentStamp = Self.stamp(changedBefore: 50)
      let identity = try store.identity(of: image)
      #expect(source.count == 8)
      #expect(try store.identity(of: image) == identity)
      #expect(source.count == 8)
    }

    @Test func `a store that cannot write a record keeps the identity in memory`() throws {
      let source = CountingSource(DeltaGIF.make(width: 16, height: 16, frameCount: 3, patch: 4))
      source.currentStamp = Self.stamp(changedBefore: 100)
      let image = try source.open()
      let store = try FrameStore(at: directory)
      for _ in 0..<3 {
        _ = try TableCall.$plan.withValue({ $0 == .write ? .error(ENOSPC) : nil }) {
          try store.identity(of: image)
        }
      }
      #expect(source.count == 1)
      #expect(store.lastError?.code == .storeFull)
    }

    @Test func `a file that has just changed is hashed each time`() throws {
      let source = CountingSource(DeltaGIF.make(width: 16, height: 16, frameCount: 3, patch: 4))
      // On a file server whose clock is ahead, and old enough only in a minute, however slow this machine is.
      source.currentStamp = Self.stamp(changedBefore: -59, modifiedBefore: 100)
      let image = try source.open()
      let store = try FrameStore(at: directory)
      for count in 1...3 {
        _ = try store.identity(of: image)
        #expect(source.count == count)
      }
    }

    @Test(arguments: [(100, -3600), (100, -1), (-3600, -3600), (-3600, 100)] as [(Int64, Int64)])
    func `a file with times in the future is hashed once`(
      changedBefore: Int64, modifiedBefore: Int64
    ) async throws {
      let source = CountingSource(DeltaGIF.make(width: 16, height: 16, frameCount: 6, patch: 4))
      source.currentStamp = Self.stamp(
        changedBefore: changedBefore, modifiedBefore: modifiedBefore)
      // What the reader keeps must not go when memory gets short beside other tests.
      let image = try source.open().charged(to: MemoryBudget(byteLimit: 1 << 20))
      let store = try reading { () throws in try FrameStore(at: directory) }
      // A read for the identity, and one for each frame.
      for index in 0..<3 { _ = try await image.bitmap(at: index, cache: store) }
      #expect(source.count == 4)
    }

    @Test func `a table alone may be read-only`() throws {
      let store = try FrameStore(at: directory)
      reading { #expect(store.frame(for: key(0)) != nil) }
      let error = #expect(throws: AnimatedImageError.self) {
        try store.store(frame(5), for: key(5))
      }
      #expect(error?.code == .storeDenied)
      #expect(!store.isReadOnly)
    }

    @Test func `a read-only store opens no file for writing, whatever its mode`() throws {
      let tables = ScratchDirectory.tables(in: directory)
      // Only its owner may write to it, others may read it: a store that writes refuses such a file.
      for path in tables + [directory.appending("secret")] { try path.setPermissions(0o644) }
      let isDirectory = Mutex(true)
      let opened = Mutex(0)
      try TableCall.$plan.withValue({ call in
        guard call == .openWriting else { return nil }
        opened.withLock { $0 += 1 }
        return isDirectory.withLock { first in
          defer { first = false }
          return first ? .error(EACCES) : nil
        }
      }) { () throws in
        let store = try FrameStore(at: directory)
        #expect(store.isReadOnly)
        for index in 0..<3 { #expect(store.bitmap(for: key(index)) == frame(index).bitmap) }
        _ = try store.identity(of: AnimatedImage(contentsOf: film, knownTo: store))
        #expect(try store.verify() == (3, 0))
        try tables[0].flip(60)
        let before = try state()
        store.remove(key(0).animation.content)
        #expect(store.lastError?.code == .storeDenied)
        isDirectory.withLock { $0 = true }
        let error = #expect(throws: AnimatedImageError.self) {
          try FrameStore(at: directory).verify()
        }
        #expect(error?.code == .storeDamaged)
        #expect(try state() == before)
      }
      // Nothing but the directory itself, once for each store.
      #expect(opened.withLock { $0 } == 2)
    }

    @Test func `a directory without a store is refused`() throws {
      try FileManager.default.removeItem(atPath: directory.appending("secret").string)
      try reading { () throws in
        let error = #expect(throws: AnimatedImageError.self) { try FrameStore(at: directory) }
        #expect(error?.code == .storeDenied)
      }
    }
  }
#endif
