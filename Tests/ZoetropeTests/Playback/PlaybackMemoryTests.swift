import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10))) struct PlaybackMemoryTests {
  /// Rows of a length that no other test has, so that its blocks can be counted.
  static let size = PixelSize(width: 277, height: 251)

  private func image() throws -> AnimatedImage {
    let palette = GIFPalette(
      (0..<4).map { RGBA(red: UInt8($0 * 60), green: 9, blue: 200, alpha: 255) })
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: Self.size.width, height: Self.size.height, palette: palette)
    for frame in 0..<5 {
      gif.graphicControl(GIFGraphicControl(delay: 2, disposal: frame == 3 ? 3 : 1))
      let rect =
        frame == 0 ? PixelRect(Self.size) : PixelRect(x: frame, y: 9, width: 60, height: 50)
      gif.frame(
        GIFFrame(rect: rect, indices: (0..<rect.size.area).map { UInt8(($0 / 7 + frame) & 3) }))
    }
    gif.trailer()
    return try AnimatedImage(bytes: gif.bytes)
  }

  // One at a time: the blocks of all are counted together.
  @Test(.serialized, arguments: [PlaybackOptions(), .everyFrame, PlaybackOptions(decodeAhead: 4)])
  func `playing takes a handful of canvases however many frames are shown`(
    options: PlaybackOptions
  ) async throws {
    let canvas = PixelBuffer(size: Self.size).finish().byteCount
    var options = options
    options.playCount = .indefinite
    let scheduler = FrameScheduler(try image(), options: options, clock: ManualClock(.jumping))
    var shown = 0
    var most = 0
    for await frame in scheduler.play().stream {
      most = max(most, PixelMemory.blockCount(of: canvas))
      #expect(frame.bitmap.byteCount == canvas)
      shown += 1
      if shown == 1000 { break }
    }
    // The current frame, the one in the stream, those ahead, and two that wait to be reused. Three threads pass on
    // frames, one at a time: the one that decodes, that of the playback, and this one. Each may be delayed for any time
    // before it releases a frame.
    #expect(most <= options.decodeAhead + 4 + 3)
    #expect(await scheduler.waitUntilEnded() == .cancelled)
  }
}
