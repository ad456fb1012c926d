package import Zoetrope

/// Random edits of a file, however damaged it is: planned and written without a crash, and the result shows the
/// pictures of the source, with the planned delays and copied bytes.
package enum RandomEdits {
  /// Applies random edits to `bytes`. Returns nil if the image does not open.
  package static func outcome(
    _ bytes: [UInt8], random: inout SplitMix64
  ) -> EditComparison.Outcome? {
    var options = smallLimits(random.next() & ~3)
    if random.next() & 1 == 0 { options.damage = .partialRows }
    guard var comparison = try? EditComparison(bytes, options: options) else { return nil }
    let edits = (0..<1 + random.next() % 3).map { _ in
      edit(&random, frames: comparison.frames.count, comparison.animation.canvasSize)
    }
    let shortDelays: AnimationWriterOptions.ShortDelays = random.next() & 1 == 0 ? .merge : .keep
    let policy: DelayPolicy = random.next() & 1 == 0 ? .browser : .exact
    var outcome = comparison.run(edits, EditOptions(delayPolicy: policy, shortDelays: shortDelays))
    outcome.problem = outcome.problem.map { "\(edits): \($0)" }
    if outcome.problem == nil, random.next() & 3 == 0 {
      outcome.problem = problemOfRewriting(comparison.animation, &random)
    }
    return outcome
  }

  /// Optimizes the image, or encodes all its pictures again, in random ways. Returns what is wrong with the file, which
  /// must not be damaged and must have the planned frames, or nil.
  private static func problemOfRewriting(
    _ image: AnimatedImage, _ random: inout SplitMix64
  ) -> String? {
    func number(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }
    let sink = MemorySink()
    let effort: EncodingEffort = [.fast, .balanced, .small][number(3)]
    let tolerance = number(3) == 0 ? number(201) : 0
    do throws(AnimatedImageError) {
      if number(3) == 0 {
        let settings = OptimizingOptions(effort: effort, tolerance: tolerance, parallelism: 1)
        _ = try image.optimize(to: sink, options: settings)
        return sink.bytes.count > image.byteCount ? "optimized: \(sink.bytes.count) bytes" : nil
      }
      let format = [AnimationFormat.gif, .apng][number(2)]
      let size = PixelSize(width: 1 + number(30), height: 1 + number(30))
      let edits = [AnimationEdit.resize(TargetSize(size), fit: .stretch), .reverse, .backAndForth]
      let chosen = Array(edits.prefix(number(4)))
      let settings = EditOptions(
        format: format, colors: number(2) == 0 ? .limited(to: 2 + number(255)) : .automatic,
        dithering: Dithering.all[number(Dithering.all.count)], tolerance: tolerance,
        effort: effort, parallelism: 1)
      let plan = try EditPlan(image, chosen, settings)
      _ = try plan.write(to: sink)
      guard plan.rewriting != nil else { return nil }
      let reader = FrameReader(
        try AnimatedImage(
          bytes: sink.bytes, options: DecodingOptions(damage: .strict, parallelism: 1)))
      while try reader.next() != nil {}
      return reader.nextIndex == plan.frames.count
        ? nil : "\(chosen) \(settings): \(reader.nextIndex) frames of \(plan.frames.count)"
    } catch {
      if [.parameter, .unwritable, .limitExceeded].contains(error.code) { return nil }
      return image.options.damage == .strict ? nil : "rewriting: \(error)"
    }
  }

  /// Returns options with small limits: what matters is which steps are taken, not how long they take.
  package static func smallLimits(_ hash: UInt64) -> DecodingOptions {
    var options = DecodingOptions(
      damage: [.salvage, .partialRows, .salvage, .strict][Int(hash % 4)],
      keeps16Bit: hash >> 2 & 7 == 0, parallelism: 1)
    options.limits.canvasPixels = 1 << 14
    options.limits.pixelsPerPlay = 1 << 17
    options.limits.frameCount = 40
    options.limits.metadataBytes = 1 << 12
    return options
  }

  private static func edit(
    _ random: inout SplitMix64, frames: Int, _ size: PixelSize
  ) -> AnimationEdit {
    func number(_ limit: Int) -> Int { Int(random.next() % UInt64(max(limit, 1))) }
    switch number(11) {
    case 0, 1:
      let first = number(frames)
      return .frames(first..<first + 1 + number(frames - first))
    case 2:
      let first = number(500)
      return .time(.milliseconds(first)..<(.milliseconds(first + 1 + number(2000))))
    case 3: return .speed(Double(1 + number(5000)) / 1000)
    case 4: return .duration(.milliseconds(1 + number(10_000)))
    case 5: return .framesPerSecond(Double(1 + number(60)))
    case 6: return .reverse
    case 7: return .backAndForth
    case 8:
      return .crop(
        PixelRect(
          x: number(size.width), y: number(size.height), width: 1 + number(size.width),
          height: 1 + number(size.height)))
    case 9: return .playCount([.indefinite, .once, .finite(1 + number(70_000))][number(3)])
    default:
      return .delay(
        FrameDelay(numerator: UInt32(number(70_000)), denominator: UInt32(number(70_000))))
    }
  }
}
