import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10)), .computes) struct DistinctFramesTests {
  private static let palette = GIFPalette([.black, RGBA(red: 255, green: 255, blue: 255)])

  /// A canvas on which each frame changes one pixel, in opposite corners by turns.
  private static func corners(_ side: Int, frameCount: Int, disposal: UInt8) -> [UInt8] {
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: side, height: side, palette: Self.palette)
    for index in 0..<frameCount {
      gif.graphicControl(GIFGraphicControl(delay: 4, disposal: disposal))
      let place = index % 2 * (side - 1)
      gif.frame(GIFFrame(rect: PixelRect(x: place, y: place, width: 1, height: 1), indices: [1]))
    }
    gif.trailer()
    return gif.bytes
  }

  /// What is chosen when every frame is scaled as a whole.
  private static func plainChoice(
    _ image: AnimatedImage, _ indices: [Int], _ count: Int
  ) throws -> [Int] {
    var distinct = DistinctFrames()
    let reader = FrameReader(image)
    for index in indices { try distinct.add(reader.frame(at: index).bitmap) }
    return distinct.choose(count)
  }

  @Test(arguments: [(100, 60, 1), (530, 12, 1), (12, 530, 3), (16, 16, 1), (5, 3, 2)])
  func `the choice does not depend on what is scaled again`(
    width: Int, height: Int, step: Int
  ) throws {
    let bytes = DeltaGIF.make(width: width, height: height, frameCount: 20, patch: 10)
    let image = try AnimatedImage(bytes: bytes)
    let indices = Array(stride(from: 0, to: 20, by: step))
    var distinct = DistinctFrames()
    let reader = FrameReader(image)
    for index in indices { try distinct.add(index, of: reader) { false } }
    for count in [2, 7, 40] {
      let plain = try Self.plainChoice(image, indices, count)
      #expect(distinct.choose(count) == plain)
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt8])
  func `a frame of one pixel does not cost a canvas`(disposal: UInt8) throws {
    let bytes = Self.corners(600, frameCount: 60, disposal: disposal)
    let reader = FrameReader(try AnimatedImage(bytes: bytes))
    var distinct = DistinctFrames()
    var checks = 0
    for index in 0..<60 {
      try distinct.add(index, of: reader) {
        checks += 1
        return false
      }
      // Scaling asks before every eighth row: of the whole canvas, 18 times.
      if index == 0 { checks = 0 }
    }
    #expect(checks < 60 * 6)
    // Little of one pixel is left in rounding.
    #expect(distinct.choose(8).first == 0)
  }

  @Test func `scaling ends when it is cancelled`() throws {
    let reader = FrameReader(
      try AnimatedImage(bytes: Self.corners(256, frameCount: 2, disposal: 1)))
    var distinct = DistinctFrames()
    let error = #expect(throws: AnimatedImageError.self) {
      try distinct.add(0, of: reader) { true }
    }
    #expect(error?.code == .cancelled)
    #expect(distinct.choose(1).isEmpty)
  }

  @Test func `areas that a rendering crops do not count`() throws {
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: 90, height: 30, palette: Self.palette)
    for (x, color) in [(0, 0), (0, 1), (40, 1)] as [(Int, UInt8)] {
      gif.graphicControl(GIFGraphicControl(delay: 4, disposal: 1))
      gif.frame(
        GIFFrame(
          rect: PixelRect(x: x, y: 0, width: 20, height: 30),
          indices: [UInt8](repeating: color, count: 600)))
    }
    gif.trailer()
    let reader = FrameReader(try AnimatedImage(bytes: gif.bytes))
    var whole = DistinctFrames()
    var middle = DistinctFrames(
      shownAs: Rendering(target: TargetSize(width: 30, height: 30), fit: .fill))
    for index in 0..<3 {
      try whole.add(index, of: reader) { false }
    }
    reader.rewind()
    for index in 0..<3 {
      try middle.add(index, of: reader) { false }
    }
    #expect(whole.choose(3) == [0, 1, 2])
    #expect(middle.choose(3) == [0, 2])
  }
}
