/// How the expansion of one GIF frame's codes ended.
package struct LZWResult: Sendable, Hashable {
  /// Why it stopped.
  package enum Status: UInt8, Sendable, Hashable {
    /// Every pixel was written.
    case complete
    /// The end code came before the last pixel.
    case endCodeEarly
    /// A code that stands for no string yet.
    case invalidCode
    /// The codes ran out before the last pixel.
    case dataExhausted
  }

  /// What follows the last pixel of a ``Status/complete`` frame. All of it is ignored.
  package enum Trailer: UInt8, Sendable, Hashable {
    /// The end code, as the format asks, and at most one zero byte, which writers flush behind it;
    /// also what an incomplete frame has.
    case endCode
    /// Nothing, not even an end code.
    case missing
    /// More pixels, or bytes behind the end code.
    case surplus
  }

  package var status: Status
  package var trailer: Trailer
  /// Pixels written: a prefix of the frame that is exact.
  package var pixelCount: Int
  /// Bytes of the codes up to the one at which it stopped.
  package var byteOffset: Int

  package init(
    status: Status, trailer: Trailer = .endCode, pixelCount: Int, byteOffset: Int
  ) {
    self.status = status
    self.trailer = trailer
    self.pixelCount = pixelCount
    self.byteOffset = byteOffset
  }
}
