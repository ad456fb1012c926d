internal import Synchronization

/// Identifies which picture of which canvas a block holds. The default identifies none.
///
/// One word, so that it fits in an atomic.
package struct PictureStamp: Sendable, Hashable {
  private static let canvasCount = Atomic<UInt64>(0)
  private static let versionBits: UInt64 = 24
  private static let versionMask: UInt64 = 1 << versionBits - 1

  package let word: UInt64

  package init(word: UInt64 = 0) { self.word = word }

  /// Returns the stamp for the first picture of a new canvas. The stamp is unique.
  package static func newCanvas() -> PictureStamp {
    let number = canvasCount.add(1, ordering: .relaxed).newValue
    return PictureStamp(word: number << versionBits)
  }

  /// The canvas, or 0 if the stamp identifies no picture.
  package var canvas: UInt64 { word >> Self.versionBits }

  /// The picture's number, counted in the order in which the canvas returned its pictures.
  package var version: Int { Int(word & Self.versionMask) }

  /// The stamp of the canvas's next picture, or nil when the numbers are exhausted.
  package var next: PictureStamp? {
    word & Self.versionMask == Self.versionMask ? nil : PictureStamp(word: word + 1)
  }
}
