import Zoetrope

/// A generator of numbers that gives the same ones each time.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }
}

// The standard library's functions are generic, and cost ten times as much in a debug build. These are
// preferred to them.

extension Int {
  static func random(in range: Range<Int>, using generator: inout SplitMix) -> Int {
    // The remainder favours small numbers by less than one in 2^50.
    range.lowerBound + Int(truncatingIfNeeded: generator.next() % UInt64(range.count))
  }

  static func random(in range: ClosedRange<Int>, using generator: inout SplitMix) -> Int {
    random(in: range.lowerBound..<range.upperBound + 1, using: &generator)
  }
}

/// A picture that tests draw in.
struct Sketch {
  let width: Int
  let height: Int
  var pixels: [RGBA]

  init(width: Int, height: Int, color: RGBA = .black) {
    self.width = width
    self.height = height
    pixels = Array(repeating: color, count: width * height)
  }

  mutating func fill(_ rect: PixelRect, _ color: RGBA) {
    let inside = rect.intersection(PixelRect(x: 0, y: 0, width: width, height: height))
    for y in inside.y..<inside.maxY {
      for x in inside.x..<inside.maxX { pixels[y * width + x] = color }
    }
  }

  /// Changes some part in one of the ways in which animations change.
  mutating func change(_ random: inout SplitMix, colors: Int) {
    func color(_ random: inout SplitMix) -> RGBA {
      let index = Int.random(in: 0..<colors, using: &random)
      return RGBA(
        red: UInt8(truncatingIfNeeded: index &* 37), green: UInt8(truncatingIfNeeded: index &* 91),
        blue: UInt8(truncatingIfNeeded: index &* 151))
    }
    let rect = PixelRect(
      x: Int.random(in: -4..<width, using: &random), y: Int.random(in: -4..<height, using: &random),
      width: Int.random(in: 1...width, using: &random),
      height: Int.random(in: 1...height, using: &random))
    switch Int.random(in: 0..<4, using: &random) {
    case 0: fill(rect, color(&random))
    case 1:
      for _ in 0..<Int.random(in: 1...40, using: &random) {
        pixels[Int.random(in: 0..<pixels.count, using: &random)] = color(&random)
      }
    case 2:
      let inside = rect.intersection(PixelRect(x: 0, y: 0, width: width, height: height))
      for y in inside.y..<inside.maxY {
        for x in inside.x..<inside.maxX { pixels[y * width + x] = color(&random) }
      }
    default: break
    }
  }

  var bitmap: Bitmap {
    let buffer = PixelBuffer(size: PixelSize(width: width, height: height))
    for y in 0..<height {
      for x in 0..<width {
        // Inside the block: `bytesPerRow` is at least four bytes a pixel.
        unsafe buffer.baseAddress.storeBytes(
          of: pixels[y * width + x].word, toByteOffset: y * buffer.bytesPerRow + x * 4,
          as: UInt32.self)
      }
    }
    return buffer.finish()
  }
}
