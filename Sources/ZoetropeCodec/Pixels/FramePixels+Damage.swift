extension FramePixels {
  /// Throws what is wrong with the frame when `policy` refuses it.
  package func refuse(
    under policy: DamagePolicy, format: AnimationFormat
  ) throws(AnimatedImageError) {
    guard policy == .strict, let damage, damage.kind.isRefusedByStrict else { return }
    throw damage.error(format: format)
  }
}
