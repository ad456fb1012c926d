import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10)), .computes)
struct TargetSizeTests {
  struct Case: Sendable {
    var source: (Int, Int)
    var target: TargetSize
    var fit: ScalingFit
    var expected: (Int, Int)
  }

  static let cases: [Case] = [
    Case(
      source: (400, 200), target: TargetSize(width: 100, height: 100), fit: .fit,
      expected: (100, 50)),
    Case(
      source: (400, 200), target: TargetSize(width: 100, height: 100), fit: .fill,
      expected: (100, 100)),
    Case(
      source: (400, 200), target: TargetSize(width: 100, height: 90), fit: .stretch,
      expected: (100, 90)),
    Case(source: (400, 200), target: TargetSize(width: 100), fit: .fit, expected: (100, 50)),
    Case(source: (400, 200), target: TargetSize(height: 100), fit: .fill, expected: (200, 100)),
    Case(source: (400, 200), target: TargetSize(), fit: .fit, expected: (400, 200)),
    Case(source: (400, 201), target: TargetSize(scale: 0.5), fit: .fit, expected: (200, 101)),
    Case(
      source: (30, 20), target: TargetSize(width: 100, height: 100), fit: .integer,
      expected: (90, 60)),
    Case(
      source: (30, 20), target: TargetSize(width: 90, height: 60), fit: .integer,
      expected: (90, 60)),
    Case(
      source: (100, 100), target: TargetSize(width: 60, height: 60), fit: .integer,
      expected: (50, 50)),
    Case(
      source: (30, 20), target: TargetSize(width: 100, height: 100, allowsEnlarging: false),
      fit: .fit, expected: (30, 20)),
    Case(
      source: (1000, 1), target: TargetSize(width: 10, height: 10), fit: .fit,
      expected: (10, 1)),
    // Half blocks in cells of 8x16: samples are square.
    Case(
      source: (100, 100),
      target: TargetSize(width: 80, height: 48), fit: .fit, expected: (48, 48)),
    // Whole cells of 8x16: twice as high as wide, so a square picture has two columns a row.
    Case(
      source: (100, 100),
      target: TargetSize(width: 80, height: 24, pixelAspect: 0.5), fit: .fit,
      expected: (48, 24)),
    // Braille in cells of 9x20: a sample is 4.5x5.
    Case(
      source: (100, 100),
      target: TargetSize(width: 80, pixelAspect: 4.5 / 5), fit: .fit, expected: (80, 72)),
  ]

  @Test(arguments: cases)
  func `the size follows box, shape and fit`(example: Case) {
    let size = example.target.size(
      of: PixelSize(width: example.source.0, height: example.source.1), fit: example.fit)
    #expect(size == PixelSize(width: example.expected.0, height: example.expected.1))
  }

  @Test(arguments: [ScalingFit.fit, .fill, .stretch, .integer])
  func `a scale that makes no sense still gives a picture`(fit: ScalingFit) {
    let source = PixelSize(width: 30, height: 20)
    for scale in [0, -3, .leastNonzeroMagnitude, -.infinity, .nan] as [Double] {
      let size = TargetSize(scale: scale).size(of: source, fit: fit)
      #expect(size == (scale.isFinite ? PixelSize(width: 1, height: 1) : source))
    }
    let size = TargetSize(scale: .greatestFiniteMagnitude).size(of: source, fit: fit)
    #expect(size == PixelSize(width: 1_000_000_000, height: 1_000_000_000))
  }

  @Test func `the size stays in the box and keeps the shape`() {
    var generator = SplitMix64(seed: 77)
    for _ in 0..<2000 {
      let source = PixelSize(
        width: .random(in: 1...2000, using: &generator),
        height: .random(in: 1...2000, using: &generator))
      let box = TargetSize(
        width: .random(in: 1...300, using: &generator),
        height: .random(in: 1...300, using: &generator),
        pixelAspect: .random(in: 0.3...3, using: &generator))
      for fit in [ScalingFit.fit, .integer] {
        let size = box.size(of: source, fit: fit)
        #expect(size.width >= 1 && size.width <= box.width ?? 0)
        #expect(size.height >= 1 && size.height <= box.height ?? 0)
        let scaleX = Double(size.width) * box.pixelAspect / Double(source.width)
        let scaleY = Double(size.height) / Double(source.height)
        // Each side is at most half a pixel off, unless it was held at 1.
        if size.width > 1, size.height > 1 {
          let slack =
            0.5 * box.pixelAspect / Double(source.width) + 0.5 / Double(source.height) + 1e-9
          #expect(abs(scaleX - scaleY) <= slack)
        }
      }
    }
  }

  @Test func `senseless boxes still give a size`() {
    let source = PixelSize(width: 10, height: 10)
    let tiny = Double.leastNonzeroMagnitude
    for aspect in [0, -1, tiny, 1e-308, 1e308, .nan, .infinity] {
      let box = TargetSize(width: -4, height: 0, pixelAspect: aspect)
      for fit in ScalingFit.allCases {
        #expect(box.size(of: source, fit: fit) == PixelSize(width: 1, height: 1))
      }
    }
  }

  @Test(arguments: [0, .leastNonzeroMagnitude, 1e-308, 1e308, .infinity], ScalingFit.allCases)
  func `pixels of senseless shapes still give a picture`(
    _ aspect: Double, _ fit: ScalingFit
  ) async throws {
    let image = try AnimatedImage(
      bytes: DeltaGIF.make(width: 16, height: 16, frameCount: 1, patch: 4))
    let box = TargetSize(width: 10, height: 10, pixelAspect: aspect)
    for filter in ScalingFilter.allCases {
      let rendering = Rendering(target: box, fit: fit, filter: filter)
      let size = try await image.bitmap(at: 0, rendering: rendering).size
      #expect((1...10).contains(size.width) && (1...10).contains(size.height))
    }
  }

  @Test(arguments: ScalingFit.allCases)
  func `enormous boxes give sides that can be multiplied`(_ fit: ScalingFit) {
    for (width, height) in [(.max, .max), (1, .max), (.max, 1), (.max, nil)] as [(Int?, Int?)] {
      let size = TargetSize(width: width, height: height).size(
        of: PixelSize(width: 16, height: 16), fit: fit)
      #expect(size.width <= 1_000_000_000 && size.height <= 1_000_000_000)
      #expect(size.area < .max)
    }
    let cells = TargetSize(width: .max, height: .max, pixelAspect: 0.5)
    #expect(cells.size(of: PixelSize(width: 16, height: 16), fit: fit).area < .max)
  }
}
