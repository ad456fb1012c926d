import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10)), .computes)
struct FrameScalerTests {
  static let sizes: [(PixelSize, PixelSize)] = [
    (PixelSize(width: 17, height: 12), PixelSize(width: 13, height: 7)),
    (PixelSize(width: 13, height: 9), PixelSize(width: 23, height: 17)),
    (PixelSize(width: 5, height: 40), PixelSize(width: 19, height: 9)),
    (PixelSize(width: 40, height: 5), PixelSize(width: 9, height: 19)),
    (PixelSize(width: 21, height: 21), PixelSize(width: 21, height: 13)),
    (PixelSize(width: 21, height: 21), PixelSize(width: 13, height: 21)),
    (PixelSize(width: 1, height: 1), PixelSize(width: 5, height: 3)),
    (PixelSize(width: 5, height: 3), PixelSize(width: 1, height: 1)),
    (PixelSize(width: 2, height: 2), PixelSize(width: 3, height: 3)),
    (PixelSize(width: 60, height: 40), PixelSize(width: 3, height: 2)),
    (PixelSize(width: 150, height: 20), PixelSize(width: 2, height: 17)),
  ]

  @Test(arguments: ScalingFilter.allCases)
  func `every channel is within 1 of double precision`(filter: ScalingFilter) throws {
    var generator = SplitMix64(seed: 5)
    let reference = ReferenceScaler(filter: filter)
    for (number, (source, size)) in Self.sizes.enumerated() {
      let scaler = try FrameScaler(from: source, to: size, filter: filter)
      for format in [PixelFormat.rgba8, .bgra8, .rgba16] where filter != .nearest {
        for (kind, alpha) in AlphaKind.allCases.enumerated() {
          // Only the order of channels differs: at each size one kind of alpha, in turn.
          if format == .bgra8, kind != number % AlphaKind.allCases.count { continue }
          let bitmap = Bitmap.random(source, format, alpha: alpha, using: &generator)
          let error = try reference.largestError(of: scaler.scale(bitmap), from: bitmap)
          #expect(error <= 1, "\(format) \(alpha) \(source) to \(size)")
        }
      }
      let bitmap = Bitmap.random(source, .rgbx8, using: &generator)
      #expect(try reference.largestError(of: scaler.scale(bitmap), from: bitmap) <= 1)
    }
  }

  @Test(arguments: ScalingFilter.allCases.dropFirst())
  func `light is within 1 of double precision`(filter: ScalingFilter) throws {
    var generator = SplitMix64(seed: 6)
    let reference = ReferenceScaler(filter: filter, isLinearLight: true)
    for (source, size) in Self.sizes {
      let scaler = try FrameScaler(from: source, to: size, filter: filter, linearLight: true)
      for format in [PixelFormat.rgba8, .rgbx8, .rgba16] {
        let bitmap = Bitmap.random(source, format, using: &generator)
        let error = try reference.largestError(of: scaler.scale(bitmap), from: bitmap)
        #expect(error <= 1, "\(format) \(source) to \(size)")
      }
    }
  }

  @Test(arguments: [ScalingFilter.bicubic, .lanczos3])
  func `the greatest overshoot is clamped, not wrapped`(filter: ScalingFilter) throws {
    // White where both weights have the same sign: the largest sum there can be, and its negative.
    let reference = ReferenceScaler(filter: filter)
    for (source, target) in [(4, 5), (6, 11), (14, 13)] {
      let size = PixelSize(width: target, height: target)
      let scaler = try FrameScaler(
        from: PixelSize(width: source, height: source), to: size, filter: filter)
      for index in 0..<target {
        let window = reference.weights(index, source: source, target: target)
        let signs = (0..<source).map { position in
          let offset = position - window.first
          return window.weights.indices.contains(offset) && window.weights[offset] > 0
        }
        for isInverse in [false, true] {
          for format in [PixelFormat.rgba8, .rgbx8] {
            let bitmap = Bitmap.drawn(scaler.sourceSize, format) { x, y, byte in
              if byte == 3, format == .rgbx8 { return 255 }
              return (signs[x] == signs[y]) != isInverse ? 255 : 0
            }
            #expect(try reference.largestError(of: scaler.scale(bitmap), from: bitmap) <= 1)
          }
        }
      }
    }
  }

  @Test func `a long window stays within 1 in the worst pattern`() throws {
    // Every weight's rounding error in one direction: white where the error is positive.
    let source = PixelSize(width: 1000, height: 3)
    for filter in ScalingFilter.allCases.dropFirst() {
      let reference = ReferenceScaler(filter: filter)
      for target in 1...3 {
        let weights = reference.weights(0, source: 1000, target: target)
        var sum = 0.0
        let bitmap = Bitmap.drawn(source, .rgbx8) { x, _, byte in
          if byte == 3 { return 255 }
          guard x >= weights.first, x - weights.first < weights.weights.count else { return 128 }
          if x == weights.first { sum = 0 }
          let exact = weights.weights[x - weights.first] * 262144
          defer { sum += exact }
          return (sum + exact).rounded() - sum.rounded() > exact ? 255 : 0
        }
        let size = PixelSize(width: target, height: 2)
        let scaled = try bitmap.scaled(to: TargetSize(size), fit: .stretch, filter: filter)
        #expect(reference.largestError(of: scaled, from: bitmap) <= 1)
      }
    }
  }

  @Test(arguments: ScalingFilter.allCases, [PixelFormat.rgba8, .rgbx8, .rgb565, .gray8])
  func `a flat picture stays flat`(filter: ScalingFilter, format: PixelFormat) throws {
    for value: UInt8 in [0, 1, 127, 128, 254, 255] {
      let pixel = try Bitmap.drawn(PixelSize(width: 23, height: 19)) { _, _, byte in
        byte == 3 ? 255 : value
      }.converted(to: format)
      for isLight in [false, true] {
        let scaled = try pixel.scaled(
          to: TargetSize(width: 31, height: 9), fit: .stretch, filter: filter,
          linearLight: isLight)
        let flat = (0..<scaled.height).allSatisfy { y in
          (0..<scaled.row(y).byteCount).allSatisfy {
            scaled.row(y).byte(at: $0) == pixel.row(0).byte(at: $0 % format.bytesPerPixel)
          }
        }
        #expect(flat, "\(value), light \(isLight)")
      }
    }
  }

  @Test func `a transparent pixel's colour does not bleed`() throws {
    // Green, but invisible, beside visible red.
    let bitmap = Bitmap.drawn(PixelSize(width: 8, height: 8)) { x, _, byte in
      let isRed = x < 4
      switch byte {
      case 0: return isRed ? 255 : 0
      case 1: return isRed ? 0 : 255
      case 3: return isRed ? 255 : 0
      default: return 0
      }
    }
    for filter in ScalingFilter.allCases.dropFirst() {
      let scaled = try bitmap.scaled(to: TargetSize(width: 5, height: 5), filter: filter)
      let pixels = (0..<25).map { scaled[$0 % 5, $0 / 5] }
      #expect(pixels.allSatisfy { $0.green == 0 })
      #expect(pixels.allSatisfy { $0.alpha == 0 ? $0 == .clear : $0.red == 255 })
    }
  }

  @Test(arguments: ScalingFilter.allCases)
  func `premultiplied colours never pass alpha`(filter: ScalingFilter) throws {
    var generator = SplitMix64(seed: 9)
    let straight = Bitmap.random(PixelSize(width: 31, height: 27), using: &generator)
    let bitmap = try straight.converted(to: .rgba8Premultiplied)
    let scaler = try FrameScaler(
      from: bitmap.size, to: PixelSize(width: 40, height: 14), filter: filter)
    let scaled = try scaler.scale(bitmap)
    let expected = try scaler.scale(straight)
    var passing = 0
    for y in 0..<scaled.height {
      for x in 0..<scaled.width {
        let channels = (0..<4).map { scaled.channel($0, x: x, y: y) }
        if channels.contains(where: { $0 > channels[3] }) { passing += 1 }
        if abs(channels[3] - Int(expected[x, y].alpha)) > 1 { passing += 1 }
      }
    }
    #expect(passing == 0)
  }

  @Test func `an equal size gives the same picture`() throws {
    var generator = SplitMix64(seed: 2)
    let bitmap = Bitmap.random(PixelSize(width: 9, height: 4), using: &generator)
    let scaler = try FrameScaler(from: bitmap.size, to: bitmap.size, filter: .lanczos3)
    #expect(try scaler.scale(bitmap) == bitmap)
  }

  @Test func `nearest picks the pixel under the middle`() throws {
    let bitmap = Bitmap.drawn(PixelSize(width: 4, height: 1)) { x, _, _ in UInt8(x) }
    let half = try bitmap.scaled(
      to: TargetSize(width: 2, height: 1), fit: .stretch, filter: .nearest)
    #expect([half[0, 0].red, half[1, 0].red] == [1, 3])
    let large = try bitmap.scaled(
      to: TargetSize(width: 8, height: 3), fit: .stretch, filter: .nearest)
    #expect((0..<8).map { large[$0, 2].red } == [0, 0, 1, 1, 2, 2, 3, 3])
  }

  @Test func `fill takes the middle`() throws {
    // Columns 0...8; a square box keeps columns 3...5 of 3 rows.
    let bitmap = Bitmap.drawn(PixelSize(width: 9, height: 3)) { x, _, byte in
      byte == 3 ? 255 : UInt8(x * 10)
    }
    let filled = try bitmap.scaled(to: TargetSize(width: 3, height: 3), fit: .fill, filter: .box)
    #expect((0..<3).map { filled[$0, 1].red } == [30, 40, 50])
  }

  @Test func `a cancelled scaling throws`() throws {
    var generator = SplitMix64(seed: 3)
    let bitmap = Bitmap.random(PixelSize(width: 64, height: 64), using: &generator)
    for filter in ScalingFilter.allCases {
      for size in [PixelSize(width: 30, height: 30), PixelSize(width: 90, height: 90)] {
        let scaler = try FrameScaler(from: bitmap.size, to: size, filter: filter)
        var calls = 0
        #expect(throws: AnimatedImageError(.cancelled, "stopped while scaling")) {
          try scaler.scale(bitmap) {
            calls += 1
            return calls == 2
          }
        }
        #expect(calls == 2)
      }
    }
  }

  @Test func `empty pictures scale to empty pictures`() throws {
    let scaler = try FrameScaler(
      from: PixelSize(width: 0, height: 4), to: PixelSize(width: 3, height: 2))
    let empty = Bitmap.drawn(PixelSize(width: 0, height: 4)) { _, _, _ in 0 }
    let scaled = try scaler.scale(empty)
    #expect(scaled.size == PixelSize(width: 3, height: 2))
    #expect(scaled[2, 1] == .clear)
  }
}
