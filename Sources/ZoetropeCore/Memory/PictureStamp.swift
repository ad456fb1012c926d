internal import Synchronization

/// A number that identifies the picture that a block of memory holds, and the canvas to which the picture belongs. The
/// default stamp identifies no picture.
///
/// A stamp is one word, so that it fits in an atomic value.
package struct PictureStamp: Sendable, Hashable {
  private static let canvasCount = Atomic<UInt64>(0)
  private static let versionBits: UInt64 = 24
  private static let versionMask: UInt64 = 1 << versionBits - 1

  package let word: UInt64

  package init(word: UInt64 = 0) { self.word = word }

  /// Returns the stamp for the first picture of a new canvas. No other picture has the same stamp.
  package static func newCanvas() -> PictureStamp {
    let number = canvasCount.add(1, ordering: .relaxed).newValue
    return PictureStamp(word: number << versionBits)
  }

  /// The number of the canvas, or 0 if the stamp identifies no picture.
  package var canvas: UInt64 { word >> Self.versionBits }

  /// The picture's number, counted in the order in which the canvas returned its pictures.
  package var version: Int { Int(word & Self.versionMask) }

  /// The stamp of the next picture of the same canvas, or nil if this picture has the highest number that a stamp can
  /// hold.
  package var next: PictureStamp? {
    word & Self.versionMask == Self.versionMask ? nil : PictureStamp(word: word + 1)
  }
}
