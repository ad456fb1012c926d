import Glibc
import SystemPackage
import Testing
import Zoetrope
import ZoetropeTestSupport

/// What becomes of an image, and of what is cached for it, when its file changes while it is open.
@Suite(.timeLimit(.minutes(10))) struct FileChangeTests {
  private let old = DeltaGIF.make(width: 40, height: 24, frameCount: 12, patch: 9)
  /// As many bytes and the same layout, in other colours.
  private let new: [UInt8]
  private let cache = MemoryFrameCache(budget: MemoryBudget(byteLimit: 16 << 20))

  init() {
    var bytes = old
    // The global table: 256 colours from byte 13 on.
    for place in 13..<13 + 768 { bytes[place] ^= 0x55 }
    new = bytes
  }

  @Test func `when a file is replaced by renaming, both images are whole and cached separately`()
    async throws
  {
    try await withFile { path in
      let image = try AnimatedImage(contentsOf: path)
      #expect(try await image.bitmap(at: 3, cache: cache) == frame(3, of: old))
      let other = FilePath(path.string + ".new")
      try write(new, to: other)
      #expect(unsafe rename(other.string, path.string) == 0)
      let renewed = try AnimatedImage(contentsOf: path)
      for index in 0..<12 {
        #expect(try await image.bitmap(at: index, cache: cache) == frame(index, of: old))
        #expect(try await renewed.bitmap(at: index, cache: cache) == frame(index, of: new))
      }
      #expect(try await image.contentIdentity() == ContentIdentity(of: old))
      #expect(try await renewed.contentIdentity() == ContentIdentity(of: new))
      #expect(cache.statistics.count == 24)
      _ = unsafe unlink(path.string)
      cache.removeAll()
      #expect(try await image.bitmap(at: 11, cache: cache) == frame(11, of: old))
      #expect(cache.statistics.count == 1)
    }
  }

  @Test func `when a file is overwritten, no frame is cached under either identity`()
    async throws
  {
    try await withFile { path in
      let image = try AnimatedImage(contentsOf: path)
      let kept = try await image.bitmap(at: 3, cache: cache)
      #expect(cache.statistics.count == 1)
      try write(new, to: path)
      // Whatever bytes these come from, they are not those of the key.
      for index in 4..<12 { _ = try? await image.bitmap(at: index, cache: cache) }
      #expect(cache.statistics.count == 1)
      // What was kept before was right, and is what this image shows.
      let again = try await image.bitmap(at: 3, cache: cache)
      #expect(again.storage === kept.storage)
      let renewed = try AnimatedImage(contentsOf: path)
      #expect(try await renewed.contentIdentity() == ContentIdentity(of: new))
      #expect(try await renewed.bitmap(at: 3, cache: cache) == frame(3, of: new))
      #expect(cache.statistics.count == 2)
    }
  }

  @Test func `a file that is overwritten before its identity is requested has none`()
    async throws
  {
    try await withFile { path in
      let image = try AnimatedImage(contentsOf: path)
      try write(new, to: path)
      let error = await #expect(throws: AnimatedImageError.self) {
        try await image.contentIdentity()
      }
      #expect(error?.code == .io)
      for index in 0..<12 { _ = try? await image.bitmap(at: index, cache: cache) }
      #expect(cache.statistics.count == 0)
    }
  }

  @Test func `a player goes on when its file is overwritten, and caches nothing of it`()
    async throws
  {
    try await withFile { path in
      let image = try AnimatedImage(contentsOf: path, options: DecodingOptions(parallelism: 1))
      var options = PlaybackOptions.everyFrame
      options.playCount = .finite(2)
      let scheduler = FrameScheduler(
        image, options: options, cache: cache, clock: ManualClock(.jumping))
      var shown = 0
      var cached = 0
      for await _ in scheduler.play().stream {
        shown += 1
        if shown == 3 {
          try write(new, to: path)
          // Frames in progress may have been decoded before the change.
          cached = cache.statistics.count
        }
      }
      #expect(scheduler.state == .finished && shown == 24)
      #expect(cache.statistics.count <= cached + options.decodeAhead + 1)
      // All that is cached is of the old bytes.
      let animation = AnimationKey(
        content: ContentIdentity(of: old), rendition: .canvas(image.canvasSize))
      var found = 0
      for index in 0..<12 {
        guard let bitmap = cache.bitmap(for: animation[index]) else { continue }
        found += 1
        #expect(try bitmap == frame(index, of: old), "frame \(index)")
      }
      #expect(found >= 3)
    }
  }

  private func frame(_ index: Int, of bytes: [UInt8]) throws -> Bitmap {
    try FrameReader(AnimatedImage(bytes: bytes)).frame(at: index).bitmap
  }

  /// A file of the old bytes, written a minute ago: a file system may take two writes in one tick of
  /// its clock for one.
  private func withFile(_ body: (FilePath) async throws -> Void) async throws {
    let path = FilePath("/tmp/zoetrope-change-\(getpid())-\(UInt64.random(in: 0 ... .max)).gif")
    defer { _ = unsafe unlink(path.string) }
    try write(old, to: path)
    let minuteAgo = timespec(tv_sec: Int(FileStamp.now() / 1_000_000_000) - 60, tv_nsec: 0)
    let times = [minuteAgo, minuteAgo]
    #expect(unsafe utimensat(AT_FDCWD, path.string, times, 0) == 0)
    try await body(path)
  }

  private func write(_ bytes: [UInt8], to path: FilePath) throws {
    let file = try FileDescriptor.open(
      path, .writeOnly, options: [.create, .truncate], permissions: .ownerReadWrite)
    try file.closeAfter { _ = try file.writeAll(bytes) }
  }
}
