import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10)), .computes)
struct DirtyRescaleTests {
  #if DEBUG
    /// Vector code that is not optimised takes a hundred times as long.
    static let sizePairs = 30
  #else
    /// 6 rectangles each, 5 filters: 12,000 cases.
    static let sizePairs = 400
  #endif

  @Test(arguments: ScalingFilter.allCases)
  func `a dirty rescale is bit-identical to a full one`(filter: ScalingFilter) throws {
    var generator = SplitMix64(seed: 100)
    let formats: [PixelFormat] = [
      .rgba8, .rgba8, .rgba8, .bgra8, .rgbx8, .rgba8Premultiplied, .rgba16, .rgb565, .gray8,
    ]
    var differing = 0
    for _ in 0..<Self.sizePairs {
      let source = Self.randomSize(using: &generator)
      let size = Self.randomSize(using: &generator)
      let scaler = try FrameScaler(
        from: source, into: TargetSize(size),
        fit: Bool.random(using: &generator) ? .fill : .stretch,
        filter: filter, linearLight: Int.random(in: 0..<8, using: &generator) == 0)
      let format = formats[Int.random(in: 0..<formats.count, using: &generator)]
      var bitmap = Bitmap.random(
        source, format, alpha: Self.randomAlpha(using: &generator), using: &generator)
      var scaled = try scaler.scale(bitmap)
      for _ in 0..<6 {
        let dirty = Self.randomRect(in: source, using: &generator)
        bitmap = bitmap.scribbled(
          in: dirty, alpha: Self.randomAlpha(using: &generator), using: &generator)
        let previous = scaled
        let result = try scaler.rescale(bitmap, previous: previous, changed: dirty)
        scaled = result.bitmap
        let full = try scaler.scale(bitmap)
        if scaled != full { differing += 1 }
        #expect(scaled == full, "\(format) \(source) to \(size), dirty \(dirty)")
        #expect(Self.differences(previous, full, outside: result.dirtyRect) == 0)
        if differing > 3 { return }
      }
    }
    #expect(differing == 0)
  }

  @Test func `nothing dirty gives the previous picture`() throws {
    var generator = SplitMix64(seed: 1)
    let bitmap = Bitmap.random(PixelSize(width: 20, height: 20), using: &generator)
    let scaler = try FrameScaler(from: bitmap.size, to: PixelSize(width: 11, height: 30))
    let scaled = try scaler.scale(bitmap)
    let outside = PixelRect(x: 20, y: 3, width: 4, height: 4)
    let result = try scaler.rescale(bitmap, previous: scaled, changed: outside)
    #expect(result.bitmap == scaled)
    #expect(result.dirtyRect == .empty)
    #expect(scaler.touched(by: PixelRect(bitmap.size)) == PixelRect(scaler.size))
  }

  @Test func `a small dirty rectangle touches little`() throws {
    let scaler = try FrameScaler(
      from: PixelSize(width: 400, height: 400), to: PixelSize(width: 100, height: 100),
      filter: .bilinear)
    let touched = scaler.touched(by: PixelRect(x: 200, y: 200, width: 4, height: 4))
    #expect(touched.contains(PixelRect(x: 50, y: 50, width: 1, height: 1)))
    #expect(touched.width <= 4 && touched.height <= 4)
  }

  private static func randomSize(using generator: inout SplitMix64) -> PixelSize {
    PixelSize(
      width: .random(in: 1...20, using: &generator),
      height: .random(in: 1...20, using: &generator))
  }

  private static func randomAlpha(using generator: inout SplitMix64) -> AlphaKind {
    AlphaKind.allCases.randomElement(using: &generator) ?? .random
  }

  private static func randomRect(
    in size: PixelSize, using generator: inout SplitMix64
  ) -> PixelRect {
    let x = Int.random(in: -2..<size.width, using: &generator)
    let y = Int.random(in: -2..<size.height, using: &generator)
    return PixelRect(
      x: x, y: y, width: .random(in: 0...max(1, size.width / 2), using: &generator),
      height: .random(in: 0...max(1, size.height / 2), using: &generator))
  }

  /// Pixels in which two pictures differ outside of `rect`.
  private static func differences(
    _ one: Bitmap, _ other: Bitmap, outside rect: PixelRect
  ) -> Int {
    let count = one.format.bytesPerPixel
    var different = 0
    for y in 0..<one.height {
      let (a, b) = (one.row(y), other.row(y))
      for x in 0..<one.width
      where !rect.contains(PixelRect(x: x, y: y, width: 1, height: 1)) {
        let same = (0..<count).allSatisfy {
          a.byte(at: x * count + $0) == b.byte(at: x * count + $0)
        }
        if !same { different += 1 }
      }
    }
    return different
  }
}
