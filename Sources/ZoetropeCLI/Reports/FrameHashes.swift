import Zoetrope
import ZoetropeProcess

extension AnimationReport {
  /// Returns the report, extended with the hash of every frame's picture. Decodes all frames.
  ///
  /// - Throws: The error of a frame that cannot be decoded, or a failure that reports an interruption by a signal.
  func withHashes(_ progress: ProgressReporter) throws(CommandFailure) -> AnimationReport {
    var report = self
    var hashes: [PixelHash] = []
    let reader = FrameReader(image)
    var damage = DecodingDamage(of: image)
    progress.expect(image.frames.count)
    defer { progress.finish((hashes.count, nil)) }
    do throws(AnimatedImageError) {
      while Signals.ending == nil, let frame = try reader.next() {
        if let item = frame.damage {
          damage.add(item)
          report.hasDecodingLosses = report.hasDecodingLosses || !item.kind.isTolerated
        }
        hashes.append(try PixelHash(of: frame.bitmap))
        progress.update((hashes.count, nil))
      }
    } catch {
      throw CommandFailure(error, file: input.name, damage: image.options.damage)
    }
    if let failure = CommandFailure.interruption(file: input.name) { throw failure }
    report.hashes = hashes
    report.frameDamage = damage.items
    return report
  }
}
