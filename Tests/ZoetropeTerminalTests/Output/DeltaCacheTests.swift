import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeTerminal

@Suite(.timeLimit(.minutes(10)), .computes)
struct DeltaCacheTests {
  static let screen = ScreenSize(columns: 12, rows: 7, cell: PixelSize(width: 5, height: 10))

  static func writer(_ mode: DrawingMode, threshold: Int) -> FrameWriter {
    let room = CellRect(column: 1, row: 1, columns: 10, rows: 5)
    let size = PixelSize(width: 50, height: 40)
    var capabilities = TerminalCapabilities()
    capabilities.colors = .full
    return FrameWriter(
      encoder: mode.encoder(
        layout: FrameLayout(of: size, in: room, screen: screen), screen: screen,
        pictureSize: size, capabilities: capabilities,
        options: EncodingOptions(holdThreshold: threshold)),
      isSynchronized: true)
  }

  private static let film = {
    var random = SplitMix(state: 12)
    var sketch = Sketch(width: 50, height: 40)
    return (0..<40).map { _ in
      sketch.change(&random, colors: 200)
      return sketch.bitmap
    }
  }()

  static func frames(_ count: Int) -> [Bitmap] { Array(film.prefix(count)) }

  @Test(arguments: DrawingMode.all, [0, 2])
  func `an encoder that got its picture back sends what it would have sent`(
    _ mode: DrawingMode, _ threshold: Int
  ) {
    var writer = Self.writer(mode, threshold: threshold)
    var bytes: [UInt8] = []
    let followers = Self.frames(20).suffix(2)
    for (number, frame) in Self.frames(18).enumerated() {
      writer.frame(frame, into: &bytes)
      guard number % 6 == 0 else { continue }
      var other = writer
      other.encoder = writer.encoder.withoutPicture()
      other.encoder.resume(showing: frame)
      for next in followers {
        var (left, right) = (writer, other)
        var (plain, resumed): ([UInt8], [UInt8]) = ([], [])
        left.frame(next, into: &plain)
        right.frame(next, into: &resumed)
        #expect(plain == resumed)
      }
    }
  }

  @Test(arguments: DrawingMode.all)
  func `a loop is encoded once, and jumps out of it are right`(
    _ mode: DrawingMode
  ) {
    let frames = Self.frames(12)
    var writer = Self.writer(mode, threshold: 0)
    var cache = DeltaCache()
    var screen = EmulatedScreen(Self.screen)
    var encodedCount = 0
    let wanted = frames.map { frame in
      var fresh = Self.writer(mode, threshold: 0)
      var bytes: [UInt8] = []
      fresh.frame(frame, into: &bytes)
      var screen = EmulatedScreen(Self.screen)
      screen.apply(bytes)
      return screen
    }
    func show(_ index: Int) {
      var bytes: [UInt8] = []
      if let kept = cache.bytes(forFrame: index, showing: frames[index], writer: &writer) {
        bytes = kept
      } else {
        encodedCount += 1
        writer.frame(frames[index], into: &bytes)
        cache.insert(bytes, forFrame: index, writer: writer)
      }
      screen.apply(bytes)
      #expect(screen.looksLike(wanted[index]), "frame \(index)")
    }
    // The first frame occurs twice, on an empty screen and after the last one. In the second play, kitty's two images
    // may alternate the other way round. Then the ring is closed.
    for index in 0..<36 { show(index % 12) }
    let afterLoops = encodedCount
    for index in 0..<12 { show(index) }
    #expect(encodedCount == afterLoops)
    for index in [5, 6, 7, 2, 11, 0, 1, 9, 3] { show(index) }
    let afterJumps = encodedCount
    for index in [4, 5, 6, 7, 8] { show(index) }
    #expect(afterJumps > afterLoops)
    #expect(cache.byteCount <= cache.byteLimit)
  }

  @Test func `what a loop keeps grows with its cells, not with its pixels`() {
    let frames = Self.frames(40)
    var writer = Self.writer(.blocks(.half), threshold: 0)
    var cache = DeltaCache()
    var sent = 0
    for (index, frame) in frames.enumerated() {
      var bytes: [UInt8] = []
      writer.frame(frame, into: &bytes)
      cache.insert(bytes, forFrame: index, writer: writer)
      sent += bytes.count
    }
    #expect(cache.byteCount - sent < 40 * (50 * MemoryLayout<ShownCell>.stride + 300))
    #expect(cache.byteCount - sent < 40 * frames[0].byteCount / 2)
  }
}
