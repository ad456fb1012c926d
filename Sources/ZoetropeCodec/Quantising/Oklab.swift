/// A colour in the Oklab colour space, in which distances are roughly perceptual. Coordinates are in units of 1/4096.
///
/// A translucent colour has the coordinates of its mixture with a medium grey, and a fourth coordinate for the amount
/// of background that shows through. To the extent that mixtures are linear in Oklab, the square of the distance
/// between two such colours is the mean of the squares of their distances on black and on white.
///
/// All arithmetic is on integers, or on doubles with a fixed order of operations, whose results IEEE 754 defines to the
/// last bit. Palettes are therefore the same on every machine.
package struct Oklab: Sendable, Hashable {
  package var lightness: Int32
  package var a: Int32
  package var b: Int32
  /// The amount of background that shows through the colour: 0 for an opaque colour, up to 2048 for a fully transparent
  /// one. 2048 is half the lightness of white.
  package var clearness: Int32 = 0

  package static let black = Oklab(lightness: 0, a: 0, b: 0)

  /// The coordinates as a vector.
  @inline(__always)
  package var vector: SIMD4<Int32> { SIMD4(lightness, a, b, clearness) }

  /// Returns the square of the distance to `other`, at most 2²⁶.
  package func distance(to other: Oklab) -> Int {
    let (l, a, b, c) = (
      Int(lightness &- other.lightness), Int(self.a &- other.a), Int(self.b &- other.b),
      Int(clearness &- other.clearness)
    )
    return l &* l &+ a &* a &+ b &* b &+ c &* c
  }

  /// The tables for converting colours, which take 128 KiB.
  package struct Converter: Sendable {
    /// The linear light of each sRGB sample, from 0 to 65,535.
    private let linear: [Int]
    /// For each n from 0 to 65,535, the cube root of n / 65,535, times 4096.
    private let cubeRoots: [Int32]

    package static let shared = Converter()

    private init() {
      linear = (0...255).map { sample in
        if sample <= 10 { return Int((Double(sample) * 65_535 / (255 * 12.92)).rounded()) }
        // x to the power of 2.4 is the square of x times the fifth root of that square, which Newton's method finds.
        let x = (Double(sample) / 255 + 0.055) / 1.055
        let square = x * x
        var root = 1.0
        for _ in 0..<60 {
          let fourth = root * root * root * root
          root = (4 * root + square / fourth) / 5
        }
        return Int((square * root * 65_535).rounded())
      }
      var root = 0
      cubeRoots = (0...65_535).map { value in
        // Round to the nearest root: (2 root + 1)³ / 8 is the cube of the midpoint between a root and the next.
        while (2 * root + 1) * (2 * root + 1) * (2 * root + 1) * 65_535 <= value << 39 { root += 1 }
        return Int32(root)
      }
    }

    /// Returns the colour with the given sRGB samples, which are 0 to 255.
    package func color(red: Int, green: Int, blue: Int) -> Oklab {
      let (r, g, b) = (linear[red], linear[green], linear[blue])
      // The factors are the coefficients in Oklab's definition times 65,536. Each row of the first matrix adds up to
      // 65,536.
      let l = Int(cubeRoots[(27_015 * r + 35_149 * g + 3_372 * b + 32_768) >> 16])
      let m = Int(cubeRoots[(13_887 * r + 44_610 * g + 7_039 * b + 32_768) >> 16])
      let s = Int(cubeRoots[(5_787 * r + 18_462 * g + 41_287 * b + 32_768) >> 16])
      return Oklab(
        lightness: Int32((13_792 * l + 52_011 * m - 267 * s + 32_768) >> 16),
        a: Int32((129_630 * l - 159_160 * m + 29_530 * s + 32_768) >> 16),
        b: Int32((1_698 * l + 51_300 * m - 52_998 * s + 32_768) >> 16))
    }

    /// The sRGB sample of the grey with half the lightness of white.
    private static let grey = 99

    /// Returns the colour of a pixel, given as a word of ``RGBA``.
    package func color(_ word: UInt32) -> Oklab {
      let alpha = Int(word >> 24)
      let samples = (Int(word & 255), Int(word >> 8 & 255), Int(word >> 16 & 255))
      if alpha == 255 { return color(red: samples.0, green: samples.1, blue: samples.2) }
      func mixed(_ sample: Int) -> Int {
        (sample * alpha + Self.grey * (255 - alpha) + 127) / 255
      }
      var color = color(red: mixed(samples.0), green: mixed(samples.1), blue: mixed(samples.2))
      color.clearness = Int32((2048 * (255 - alpha) + 127) / 255)
      return color
    }
  }
}
