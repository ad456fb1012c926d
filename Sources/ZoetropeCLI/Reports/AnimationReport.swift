import Zoetrope

/// What `info` and a manifest say about one file.
struct AnimationReport {
  /// The file's name as it was given.
  let file: String
  let image: AnimatedImage
  /// The policy for the times that are shown beside the stored ones.
  let policy: DelayPolicy
  /// What was written for each frame, by index; nil when nothing was meant to be.
  var outputs: [Int: WrittenFrame]?
  /// The size that frames were scaled to; nil when they kept theirs.
  var outputSize: PixelSize?
  /// What was wrong with frames that were decoded.
  var frameDamage: [Damage] = []

  /// The sum of the stored delays.
  var storedDuration: Decimal { image.frames.storedDuration }

  /// The time that one play takes under ``policy``.
  var shownDuration: Decimal { image.frames.total { Decimal(policy.shownDuration(of: $0)) } }

  /// All damage, that of the structure first.
  var damage: [Damage] { image.damage + frameDamage }

  /// Whether something was lost.
  var hasLosses: Bool { damage.contains { !$0.kind.isTolerated } }
}
