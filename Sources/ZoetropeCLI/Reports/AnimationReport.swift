import Zoetrope

/// What `info` and a manifest say about one file.
struct AnimationReport {
  /// The format of its JSON; the number changes when a field is taken away or means another thing.
  static let schemaName = "zoetrope.animation"
  static var schema: String { "\(schemaName)/2" }

  let input: InputFile
  let image: AnimatedImage
  /// How long each frame is shown, for the times that are told beside the stored delays.
  let policy: DelayPolicy
  /// What was written for each frame, by index, and for the static image, by nil; nil when nothing
  /// was meant to be.
  var outputs: [Int?: WrittenFrame]?
  /// The size that frames were scaled to; nil when they kept theirs.
  var outputSize: PixelSize?
  /// What was wrong with frames that were decoded.
  var frameDamage: [Damage] = []
  /// Why not everything was done, if so.
  var failure: CommandFailure?

  init(input: InputFile, image: AnimatedImage, policy: DelayPolicy) {
    (self.input, self.image, self.policy) = (input, image, policy)
  }

  /// The sum of the stored delays.
  var storedDuration: Decimal { image.frames.storedDuration }

  /// The time that one play takes under ``policy``.
  var shownDuration: Decimal { image.frames.total { Decimal(policy.shownDuration(of: $0)) } }

  /// All damage, that of the structure first.
  var damage: [Damage] { image.damage + frameDamage }

  /// Whether something was lost.
  var hasLosses: Bool { damage.contains { !$0.kind.isTolerated } }
}
