import SystemPackage
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10))) struct FrameFormatTests {
  private let scratch: ScratchDirectory
  private let image: AnimatedImage

  init() throws {
    scratch = try ScratchDirectory()
    image = try AnimatedImage(bytes: FixtureLibrary().file("Demo/variable-delay.gif"))
  }

  private var directory: FilePath { scratch.path.appending("store") }
  private var count: Int { image.frames.count }

  private func format(
    _ name: String, _ side: Int = 20, family: String = "f", style: PixelFormat = .rgba8,
    maximumCount: Int = 64, drawing: FrameDrawing? = nil
  ) -> FrameFormat {
    FrameFormat(
      name, size: PixelSize(width: side, height: side), family: family, format: style,
      drawing: drawing, maximumCount: maximumCount)
  }

  private func key(_ format: FrameFormat, _ index: Int, in store: FrameStore) throws -> FrameKey {
    AnimationKey(
      content: try store.identity(of: image),
      rendition: Rendition(format.rendering, of: image.canvasSize, options: image.options))[index]
  }

  private func rendered(_ format: FrameFormat) throws -> [Bitmap] {
    let reader = RenderedReader(image, rendering: format.rendering, cache: nil)
    return try image.frames.indices.map { try reader.frame(at: $0).bitmap }
  }

  @Test func `one decode pass fills every format of a family, in every style`() throws {
    let styles: [PixelFormat] = [.rgba8, .bgra8Premultiplied, .rgbx8, .rgb565, .gray8]
    var formats = styles.map { format("\($0)", style: $0) }
    formats.append(format("other", family: "g"))
    let store = try FrameStore(at: directory, formats: formats)
    let cache = MemoryFrameCache(budget: MemoryBudget(byteLimit: 8 << 20), backing: store)
    let reader = RenderedReader(image, rendering: formats[0].rendering, cache: cache)
    for index in 0..<count { _ = try reader.frame(at: index) }
    let decoded = reader.decodedCount
    #expect(store.lastError == nil)
    for format in formats.dropLast() {
      for (index, bitmap) in try rendered(format).enumerated() {
        #expect(store.bitmap(for: try key(format, index, in: store)) == bitmap)
      }
      // Another process, which plays this format, decodes nothing.
      let second = RenderedReader(
        image, rendering: format.rendering, cache: try FrameStore(at: directory))
      for index in 0..<count { _ = try second.frame(at: index) }
      #expect(second.decodedCount == 0)
    }
    #expect(decoded == count)
    #expect(!store.contains(try key(formats[5], 0, in: store)))
    let names = store.statistics.tables.compactMap(\.name)
    #expect(Set(names) == Set(styles.map { "\($0)" }))
  }

  @Test func `a single bitmap fills its family too`() async throws {
    let formats = [format("a"), format("b", 30)]
    let store = try FrameStore(at: directory, formats: formats)
    _ = try await image.bitmap(at: 2, rendering: formats[0].rendering, cache: store)
    let expected = try rendered(formats[1])[2]
    #expect(store.bitmap(for: try key(formats[1], 2, in: store)) == expected)
  }

  @Test func `prefetching stores a list or everything, each frame once`() async throws {
    let formats = [format("a"), format("b", 30)]
    let store = try FrameStore(at: directory, formats: formats)
    #expect(try await store.prefetch([3, 1], of: image, family: "f") == 4)
    #expect(store.contains(try key(formats[1], 3, in: store)))
    #expect(!store.contains(try key(formats[1], 2, in: store)))
    #expect(try await store.prefetch(of: image, family: "f") == 2 * (count - 2))
    #expect(try await store.prefetch(of: image, family: "f") == 0)
    for format in formats {
      for (index, bitmap) in try rendered(format).enumerated() {
        #expect(store.bitmap(for: try key(format, index, in: store)) == bitmap)
      }
    }
    let error = await #expect(throws: AnimatedImageError.self) {
      try await store.prefetch([count], of: image, family: "f")
    }
    #expect(error?.code == .parameter)
    let unknown = await #expect(throws: AnimatedImageError.self) {
      try await store.prefetch(of: image, family: "g")
    }
    #expect(unknown?.code == .parameter)
  }

  @Test func `concurrent prefetches of one image decode each frame once`() async throws {
    let store = try FrameStore(at: directory)
    let renderings = [format("a").rendering]
    let stored = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<6 {
        group.addTask { [image] in try await store.prefetch(of: image, renderings: renderings) }
      }
      return try await group.reduce(0, +)
    }
    #expect(stored == count)
    #expect(store.statistics.insertions == count)
  }

  @Test func `a cancelled prefetch keeps what it stored, and the next one goes on`() async throws {
    let store = try FrameStore(at: directory)
    let rendering = format("a").rendering
    let task = Task { [image] in
      while !Task.isCancelled { await Task.yield() }
      return try await store.prefetch(of: image, renderings: [rendering])
    }
    task.cancel()
    let error = await #expect(throws: AnimatedImageError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    #expect(try await store.prefetch([0], of: image, renderings: [rendering]) == 1)
    #expect(try await store.prefetch(of: image, renderings: [rendering]) == count - 1)
  }

  @Test func `other parameters make another table and leave the others alone`() throws {
    let (old, other) = (format("a"), format("b"))
    let changed = [
      format("a", 24), format("a", style: .gray8), format("a", maximumCount: 32),
      format("a", drawing: FrameDrawing("badge", version: 1) { _, _, _ in }),
      format("a", drawing: FrameDrawing("badge", version: 2) { _, _, _ in }),
      FrameFormat("a", size: old.size, fit: .fill, maximumCount: 64),
      FrameFormat("a", size: old.size, filter: .box, maximumCount: 64),
    ]
    let store = try FrameStore(at: directory)
    for format in [old, other] {
      let reader = RenderedReader(image, rendering: format.rendering, cache: store)
      _ = try reader.frame(at: 0)
    }
    for format in changed {
      #expect(store.frame(for: try key(format, 0, in: store)) == nil)
      let reader = RenderedReader(image, rendering: format.rendering, cache: store)
      _ = try reader.frame(at: 0)
      #expect(reader.decodedCount == 1)
    }
    #expect(store.statistics.tables.count == 2 + changed.count)
    #expect(store.contains(try key(old, 0, in: store)))
    #expect(store.contains(try key(other, 0, in: store)))
    // Removing a format removes its tables of all parameters, and nothing else.
    store.removeAll(in: old)
    #expect(store.statistics.tables.map(\.name) == ["b"])
  }

  @Test func `the maximum count holds, and frames of several shapes share a table`() throws {
    let store = try FrameStore(at: directory)
    let format = format("a", maximumCount: 16)
    for (seed, size) in [PixelSize(width: 20, height: 9), PixelSize(width: 7, height: 20)]
      .enumerated()
    {
      let rendition = Rendition(size: size, table: format.rendering.table)
      for index in 0..<20 {
        let key = AnimationKey(
          content: ContentIdentity(high: UInt64(seed), low: 2), rendition: rendition)[index]
        let bitmap = makePixels(size, seed: index)
        try store.store(CachedFrame(bitmap), for: key)
        #expect(store.bitmap(for: key) == bitmap)
      }
    }
    #expect(store.statistics.frameCount == 16)
    #expect(try store.verify() == (16, 0))
    #expect(store.statistics.tables.map(\.capacity) == [16])
  }

  @Test func `frames are removed by image, by format and by both, on both levels`() throws {
    let (a, b) = (format("a", family: ""), format("b", family: ""))
    let store = try FrameStore(at: directory)
    let cache = MemoryFrameCache(budget: MemoryBudget(byteLimit: 8 << 20), backing: store)
    let content = try store.identity(of: image)
    func fill() throws {
      for format in [a, b] {
        let reader = RenderedReader(image, rendering: format.rendering, cache: cache)
        for index in 0..<count { _ = try reader.frame(at: index) }
      }
    }
    func isKept(_ format: FrameFormat) throws -> Bool {
      cache.frame(for: try key(format, 1, in: store)) != nil
    }
    try fill()
    cache.remove(content, in: a)
    #expect(try !isKept(a) && isKept(b))
    try fill()
    cache.remove(ContentIdentity(high: 1, low: 1), in: a)
    #expect(try isKept(a))
    cache.removeAll(in: b)
    #expect(try isKept(a) && !isKept(b))
    // A former version of the format.
    let memory = MemoryFrameCache(budget: MemoryBudget(byteLimit: 8 << 20))
    memory.storeIfPossible(CachedFrame(try rendered(a)[0]), for: try key(a, 0, in: store))
    memory.removeAll(in: format("c"))
    #expect(memory.statistics.count == 1)
    memory.removeAll(in: format("a", 24))
    #expect(memory.statistics.count == 0)
    try fill()
    cache.remove(content)
    #expect(try !isKept(a) && !isKept(b))
    try fill()
    cache.removeAll()
    #expect(try !isKept(a) && !isKept(b))
    #expect(store.statistics.frameCount == 0)
    #expect(store.statistics.recordCount == 0)
  }

  @Test func `a drawing is drawn on every frame, and its version is part of the key`() throws {
    let store = try FrameStore(at: directory)
    for version in 1...2 {
      let drawing = FrameDrawing("corner", version: version) { y, size, bytes in
        guard y == size.height - 1 else { return }
        bytes.storeBytes(of: UInt32(version) | 0xff00_0000, toByteOffset: 0, as: UInt32.self)
      }
      let (plain, drawn) = (format("plain"), format("drawn", drawing: drawing))
      let expected = try rendered(plain)
      for _ in 0..<2 {
        let reader = RenderedReader(image, rendering: drawn.rendering, cache: store)
        for (index, bitmap) in expected.enumerated() {
          let frame = try reader.frame(at: index).bitmap
          let last = frame.height - 1
          #expect(frame[0, last] == RGBA(red: UInt8(version), green: 0, blue: 0))
          #expect(frame[1, last] == bitmap[1, last] && frame[0, 0] == bitmap[0, 0])
        }
      }
    }
    #expect(store.statistics.insertions == 2 * count)
  }

  @Test(arguments: [
    "list", "a b/c", "../x", "ä-ö.%", String(repeating: "long", count: 40),
    String(repeating: "漢字", count: 20),
  ])
  func `a format may have any name`(name: String) throws {
    let store = try FrameStore(at: directory)
    let format = format(name)
    let reader = RenderedReader(image, rendering: format.rendering, cache: store)
    _ = try reader.frame(at: 0)
    #expect(store.lastError == nil)
    #expect(try FrameStore(at: directory).contains(try key(format, 0, in: store)))
    let found = try FrameStore(at: directory).statistics.tables.compactMap(\.name)
    #expect(found.count == 1)
    if name.utf8.count < 48 { #expect(found == [name]) }
  }
}
