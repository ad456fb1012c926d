internal import Synchronization

/// Says which picture of which canvas a block of pixels holds; the default says nothing.
///
/// One word, so that it can be kept in an atomic beside the block.
package struct PictureStamp: Sendable, Hashable {
  private static let canvasCount = Atomic<UInt64>(0)
  private static let versionBits: UInt64 = 24
  private static let versionMask: UInt64 = 1 << versionBits - 1

  package let word: UInt64

  package init(word: UInt64 = 0) { self.word = word }

  /// The first picture of a canvas that no other stamp names.
  package static func newCanvas() -> PictureStamp {
    let number = canvasCount.add(1, ordering: .relaxed).newValue
    return PictureStamp(word: number << versionBits)
  }

  /// The canvas; 0 for the stamp that says nothing.
  package var canvas: UInt64 { word >> Self.versionBits }

  /// Which of the canvas's pictures, in the order in which they were handed out.
  package var version: Int { Int(word & Self.versionMask) }

  /// The stamp of the canvas's next picture; nil when its numbers are used up.
  package var next: PictureStamp? {
    word & Self.versionMask == Self.versionMask ? nil : PictureStamp(word: word + 1)
  }
}
