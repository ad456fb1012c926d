import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10)), .computes)
struct IndexedBlitterTests {
  /// A rectangle of indices at an odd place of a larger canvas, drawn by the blitter and by a plain loop.
  struct Case {
    var width: Int
    var height: Int
    var indexStride: Int
    var canvasStride: Int
    /// Where in its memory each starts, so that every alignment comes up.
    var indexOffset: Int
    var canvasOffset: Int
    var indices: [UInt8]
    var palette: [UInt32]
    var transparent: UInt8?

    init(random: inout SplitMix64) {
      width = [0, 1, 15, 16, 17, 31, 64, 100, 400].randomElement(using: &random) ?? 1
      width += Int.random(in: 0...3, using: &random)
      height = Int.random(in: 0...4, using: &random)
      let isTight = Bool.random(using: &random)
      indexStride = width + (isTight ? 0 : Int.random(in: 0...20, using: &random))
      canvasStride = width + (isTight ? 0 : Int.random(in: 0...20, using: &random))
      indexOffset = Int.random(in: 0..<16, using: &random)
      canvasOffset = Int.random(in: 0..<4, using: &random)
      transparent =
        Int.random(in: 0..<4, using: &random) == 0 ? nil : UInt8.random(in: 0...4, using: &random)
      palette = [UInt32](repeating: 0, count: 256)
      for index in 0..<256 {
        palette[index] = UInt32(truncatingIfNeeded: random.next()) & 0xff_ffff | 255 << 24
      }
      if let transparent, Bool.random(using: &random) { palette[Int(transparent)] = 0 }
      indices = []
      let longest = [1, 4, 40, 300].randomElement(using: &random) ?? 1
      let colors = Bool.random(using: &random) ? 4 : 255
      while indices.count < indexOffset + indexStride * height {
        let index = UInt8(Int.random(in: 0...colors, using: &random))
        indices += [UInt8](repeating: index, count: Int.random(in: 1...longest, using: &random))
      }
    }

    var canvasCount: Int { canvasOffset + canvasStride * height + 20 }
    var canvas: [UInt32] { (0..<canvasCount).map { UInt32($0) &* 0x0101_0307 } }

    func drawn() -> [UInt32] {
      var canvas = canvas
      unsafe canvas.withUnsafeMutableBufferPointer { canvas in
        unsafe indices.withUnsafeBufferPointer { indices in
          unsafe palette.withUnsafeBufferPointer { palette in
            guard let canvas = canvas.baseAddress, let indices = indices.baseAddress,
              let palette = palette.baseAddress
            else { return }
            unsafe IndexedBlitter.draw(
              indices: indices + indexOffset, indexStride: indexStride, width: width,
              height: height, palette: palette, transparent: transparent,
              into: canvas + canvasOffset, canvasStride: canvasStride)
          }
        }
      }
      return canvas
    }

    func plainlyDrawn() -> [UInt32] {
      var canvas = canvas
      for y in 0..<height {
        for x in 0..<width {
          let index = indices[indexOffset + y * indexStride + x]
          if index == transparent { continue }
          canvas[canvasOffset + y * canvasStride + x] = palette[Int(index)]
        }
      }
      return canvas
    }
  }

  @Test(arguments: 0..<8)
  func `random rectangles are drawn as pixel by pixel, and nothing else is touched`(seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    for round in 0..<400 {
      let sample = Case(random: &random)
      #expect(sample.drawn() == sample.plainlyDrawn(), "round \(round)")
    }
  }
}
