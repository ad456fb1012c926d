import Glibc
import SystemPackage
import Zoetrope
import ZoetropeTestSupport

/// Runs a player with a frame every 10 ms next to demanding ones. Measures whether all of its frames are delivered, and
/// how late they are on the thread that delivers them.
enum Neighbours {
  /// The load next to the player.
  enum Load: String, CaseIterable {
    case nothing
    /// An animation of two frames without delay, played in a loop.
    case zeroDelay
    /// A 3840×2160 APNG at 50 frames a second, with one whole frame, then small ones.
    case large
    /// Four files of 100 MB that are repeatedly opened, hashed and played.
    case loads
  }

  static func measure(seconds: Int) async throws {
    let image = try Crowd.image(delay: 1)
    let files = try LargeFiles()
    defer { files.remove() }
    let large = try largeAPNG()
    print("10 ms player, \(seconds) s, beside (times in us):")
    for load in Load.allCases {
      let neighbour = Task.detached { await run(load, large, files.paths) }
      // By then the loads and the first large frame have begun.
      try await Task.sleep(for: .milliseconds(300))
      let count = seconds * 100
      let options = PlaybackOptions(playCount: .indefinite, delayPolicy: .exact, recordsTrace: true)
      let scheduler = FrameScheduler(image, options: options)
      let shown = await Task.detached {
        var shown = 0
        for await frame in scheduler.play().stream {
          shown += 1 + frame.skipped
          if shown >= count { break }
        }
        return shown
      }.value
      let late = Samples(values: scheduler.trace.lateness.map { $0 / .microseconds(1) })
      let statistics = scheduler.statistics
      neighbour.cancel()
      print(
        "  \(load)", late.summary, "of=\(shown) skipped=\(statistics.skipped)",
        "replaced=\(statistics.replaced)", "beside=\(await neighbour.value)")
    }
  }

  /// Plays or loads until cancelled. Returns the number of frames.
  private static func run(
    _ load: Load, _ large: AnimatedImage, _ paths: [FilePath]
  ) async -> Int {
    var count = 0
    switch load {
    case .nothing: return 0
    case .zeroDelay:
      guard let image = try? Crowd.image(delay: 0, frames: 2) else { return 0 }
      let options = PlaybackOptions(playCount: .indefinite, delayPolicy: .exact)
      for await _ in image.play(options: options).stream { count += 1 }
    case .large:
      let options = PlaybackOptions(playCount: .indefinite)
      for await _ in large.play(options: options).stream { count += 1 }
    case .loads:
      while !Task.isCancelled {
        // The loader has its own cache, so that nothing is known from the previous round.
        let loader = FrameLoader(cache: MemoryFrameCache(), budget: MemoryBudget())
        count += await withTaskGroup(of: Int.self) { group in
          for path in paths { group.addTask { await firstFrame(loader, path) } }
          return await group.reduce(0, +)
        }
      }
    }
    return count
  }

  private static func firstFrame(_ loader: FrameLoader, _ path: FilePath) async -> Int {
    if let file = try? FileDescriptor.open(path, .readOnly) {
      posix_fadvise(file.rawValue, 0, 0, POSIX_FADV_DONTNEED)
      try? file.close()
    }
    for await phase in loader.phases(forFileAt: path) {
      guard case .playing(let scheduler) = phase else { continue }
      for await _ in scheduler.play().stream { return 1 }
    }
    return 0
  }

  private static func largeAPNG() throws -> AnimatedImage {
    let (width, height, frames) = (3840, 2160, 50)
    var random = SplitMix64(seed: 7)
    var file = APNGBuilder()
    file.png.signature()
    file.png.chunk(
      "IHDR",
      PNGBuilder.header(width: UInt32(width), height: UInt32(height), layout: PNGLayout(.rgba)))
    file.animationControl(frames: UInt32(frames))
    for index in 0..<frames {
      let size =
        index == 0 ? PixelSize(width: width, height: height) : PixelSize(width: 64, height: 64)
      var control = APNGFrameControl(width: UInt32(size.width), height: UInt32(size.height))
      (control.delayNumerator, control.delayDenominator) = (1, 50)
      file.frameControl(control)
      var rows: [UInt8] = []
      for _ in 0..<size.height {
        rows.append(0)
        var word = random.next()
        for place in 0..<size.width * 4 {
          if place % 64 == 0 { word = random.next() }
          rows.append(UInt8(truncatingIfNeeded: word >> UInt64(place & 31)))
        }
      }
      let data = ZlibStream().encode(rows)
      if index == 0 { file.png.chunk("IDAT", data) } else { file.frameData(data) }
    }
    file.png.chunk("IEND")
    return try AnimatedImage(bytes: file.bytes)
  }
}

/// Four files of 100 MB that differ in one byte.
private struct LargeFiles {
  let paths: [FilePath]

  init() throws {
    let size = PixelSize(width: 1000, height: 1000)
    let palette = GIFPalette(
      (0..<256).map { RGBA(red: UInt8($0), green: UInt8(255 - $0), blue: 90, alpha: 255) })
    var random = SplitMix64(seed: 3)
    var frame = GIFBuilder()
    frame.graphicControl(GIFGraphicControl(delay: 5, disposal: 1))
    frame.frame(
      GIFFrame(
        rect: PixelRect(size), indices: (0..<size.area).map { _ in UInt8(random.next() & 255) }))
    paths = (0..<4).map { FilePath("/tmp/playback-timing-\(getpid())-\($0).gif") }
    for (number, path) in paths.enumerated() {
      var start = GIFBuilder()
      start.signature()
      start.screen(width: size.width, height: size.height, palette: palette)
      start.comment([UInt8(number)])
      let file = try FileDescriptor.open(
        path, .writeOnly, options: [.create, .truncate], permissions: .ownerReadWrite)
      try file.closeAfter {
        try file.writeAll(start.bytes)
        var written = 0
        while written < 100_000_000 { written += try file.writeAll(frame.bytes) }
        try file.writeAll([0x3b])
        // Pages that are not yet on disk could not be dropped from the file cache.
        fsync(file.rawValue)
      }
    }
  }

  func remove() { for path in paths { unlink(path.string) } }
}
