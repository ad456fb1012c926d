/// A colour in a space in which distances are roughly perceptual. Its coordinates are luma, and the differences between
/// blue and luma and between red and luma.
///
/// All arithmetic is on integers, so results are the same on every machine. Chroma counts a sixth as much as luma,
/// which matches the distances of the primaries from white, grey and black in Oklab. Unlike in Oklab, steps near black
/// are not exaggerated.
package struct PerceivedColor: Sendable, Hashable {
  /// Luma, in sixteenths of a step of an 8-bit sample.
  package var luma: Int32
  package var blue: Int32
  package var red: Int32

  package static let none = Self(luma: 0, blue: 0, red: 0)

  package init(luma: Int32, blue: Int32, red: Int32) {
    (self.luma, self.blue, self.red) = (luma, blue, red)
  }

  /// Converts a colour.
  ///
  /// - Parameter word: The colour as `RGBA.word`. Its alpha is ignored.
  @inline(__always)
  package init(word: UInt32) {
    let (red, green, blue) = (
      Int32(truncatingIfNeeded: word & 0xff), Int32(truncatingIfNeeded: word &>> 8 & 0xff),
      Int32(truncatingIfNeeded: word &>> 16 & 0xff)
    )
    luma = (77 &* red &+ 150 &* green &+ 29 &* blue) &>> 4
    self.blue = blue &<< 4 &- luma
    self.red = red &<< 4 &- luma
  }

  /// Returns the difference of each component to that of `other`.
  @inline(__always)
  package func minus(_ other: Self) -> Self {
    Self(luma: luma &- other.luma, blue: blue &- other.blue, red: red &- other.red)
  }

  /// Returns six times the square of the distance to `other`. The result is below 2^29.
  @inline(__always)
  package func squareDistance(to other: Self) -> Int32 {
    let (y, b, r) = (luma &- other.luma, blue &- other.blue, red &- other.red)
    return 6 &* y &* y &+ b &* b &+ r &* r
  }

  /// Returns the greatest ``squareDistance(to:)`` at which two colours count as equal.
  ///
  /// - Parameter tolerance: The tolerance in eighths of a step of 8-bit grey, 0 to 200.
  package static func greatestSquare(_ tolerance: Int) -> Int32 {
    let distance = Int32(clamping: min(max(tolerance, 0), 200)) * 2
    return 6 * distance * distance
  }

  /// Returns whether two pixels look the same, given the `square` that ``greatestSquare(_:)`` returned for the
  /// tolerance. A transparent pixel equals only other transparent pixels. The alphas of partly transparent pixels must
  /// be within the tolerance too.
  @inline(__always)
  package static func isNear(_ one: UInt32, _ other: UInt32, _ square: Int32) -> Bool {
    if one == other { return true }
    let alphas = (
      Int32(truncatingIfNeeded: one &>> 24), Int32(truncatingIfNeeded: other &>> 24)
    )
    if alphas.0 != alphas.1 {
      if alphas.0 == 0 || alphas.1 == 0 { return false }
      let difference = (alphas.0 &- alphas.1) &<< 4
      if 6 &* difference &* difference > square { return false }
    }
    return Self(word: one).squareDistance(to: Self(word: other)) <= square
  }
}
