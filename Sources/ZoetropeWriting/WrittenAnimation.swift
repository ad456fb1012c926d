/// The size and contents of a written file.
public struct WrittenAnimation: Sendable, Hashable {
  /// The size of the file in bytes.
  public let byteCount: Int
  /// The number of frames in the file.
  public let frameCount: Int
  /// The number of frames that were merged into others because they were equal or too short.
  public let mergedCount: Int
  /// The number of frames whose compressed pixels were copied from the source. It is 0 unless an animation was edited.
  public let copiedCount: Int
  /// The number of frames whose colours were reduced to a palette. Frames that were copied after such a frame, and show
  /// its reduced colours until they draw over them, do not count.
  public let reducedCount: Int
  /// The maximum number of colours in a palette, if it was limited and the colours of any frame were reduced; otherwise
  /// nil. For a GIF that was scaled down, it may be less than 256; see ``EditOptions/colors``.
  public let colorLimit: Int?
  /// Of all pixels in the changed rectangles, the share that were partly transparent and became opaque or fully
  /// transparent, from 0 to 1.
  public let partialAlphaShare: Double
  /// Whether all delays are stored exactly. If not, the end times of frames are rounded.
  public let hasExactDelays: Bool
  /// Whether metadata of the source was left out, if an animation was edited: for ``EditOptions/budget``, or as
  /// ``EditPlan/losesMetadata`` tells.
  public package(set) var losesMetadata: Bool
  /// The damage found in the source, if an animation was edited.
  public let damage: [Damage]
  /// What was given up to meet ``EditOptions/budget``, or nil if nothing was given up.
  public package(set) var concessions: ByteBudget.Concessions?
  /// The number of frames that were compressed, rather than copied.
  public var encodedCount: Int { frameCount - copiedCount }

  package init(
    byteCount: Int, frameCount: Int, mergedCount: Int, copiedCount: Int = 0, reducedCount: Int = 0,
    colorLimit: Int? = nil, partialAlphaShare: Double = 0, hasExactDelays: Bool = true,
    losesMetadata: Bool = false, damage: [Damage] = []
  ) {
    self.byteCount = byteCount
    self.frameCount = frameCount
    self.mergedCount = mergedCount
    self.copiedCount = copiedCount
    self.reducedCount = reducedCount
    self.colorLimit = colorLimit
    self.partialAlphaShare = partialAlphaShare
    self.hasExactDelays = hasExactDelays
    self.losesMetadata = losesMetadata
    self.damage = damage
  }
}
