package import ZoetropeFrames

/// Predictions of how programs play one file, derived from the rules of these programs.
package struct Explanation {
  /// A delay that a program changes by more than a hundredth of a millisecond.
  package struct ChangedDelay: Hashable, Sendable {
    package let frame: Int
    package let stored: Duration
    /// The time for which the program shows the frame, or nil if the program's arithmetic overflows.
    package let shown: Duration?
  }

  /// How often a program plays the file.
  package enum Plays: Hashable, Sendable {
    case count(PlayCount)
    /// The program does not play animations, but reports this stored loop count, or nil if it reports none.
    case stored(Int?)
  }

  /// How one program treats the file.
  package struct Prediction: Hashable, Sendable {
    package let program: Program
    package let behaviour: Behaviour
    /// How often the program plays the file, or nil if the program does not animate the file or shows nothing of it.
    package fileprivate(set) var plays: Plays?
    /// Whether the program does not know, or never reaches, the block with the file's loop count.
    fileprivate(set) var losesPlays = false
    /// How long each frame is shown, or nil for a frame whose duration overflows. The array is empty if the program
    /// does not animate the file or shows nothing of it.
    package fileprivate(set) var durations: [Duration?] = []
    package fileprivate(set) var changes: [ChangedDelay] = []
    package fileprivate(set) var difference = PredictedDifference.unknown

    /// The duration of one play, or nil if the program does not play the file or if a duration overflows.
    package var playDuration: Duration? {
      var sum = Duration.zero
      for duration in durations {
        guard let duration else { return nil }
        sum += duration
      }
      // The durations were rounded down to nanoseconds, so twelve twelfths of a second would sum to 999.999 ms.
      let lost = Duration.nanoseconds(durations.count)
      let microsecond: Int64 = 1_000_000_000_000
      let missing = (microsecond - sum.components.attoseconds % microsecond) % microsecond
      let missingTime = Duration(secondsComponent: 0, attosecondsComponent: missing)
      if missingTime <= lost { sum += missingTime }
      return durations.isEmpty ? nil : sum
    }
  }

  package let image: AnimatedImage
  /// A prediction for each program, or none if nothing is known about files in the format of the image.
  package let predictions: [Prediction]

  /// Predicts how `programs` treat `image`. Frames are decoded if anything is known about the pictures of one of the
  /// programs.
  ///
  /// - Parameter isCancelled: Called before each frame is compared.
  /// - Throws: Decoding errors; `cancelled` if `isCancelled` returns true.
  package init(
    of image: AnimatedImage, programs: [Program], isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) {
    self.image = image
    let behaviours = programs.compactMap { $0.behaviour(for: image.format) }
    let differences = try PictureComparison.differences(
      of: image, behaviours, isCancelled: isCancelled)
    let needsStructure =
      image.storedLoopCount != nil || behaviours.contains { $0.delays?.isInherited ?? false }
    let structure = image.format == .gif && needsStructure ? try GIFStructure(image) : nil
    predictions = zip(zip(programs, behaviours), differences).map { pair, difference in
      var prediction = Prediction(program: pair.0, behaviour: pair.1)
      prediction.difference = difference
      prediction.addTimes(of: image, structure)
      return prediction
    }
  }
}

extension Explanation.Prediction {
  /// Applies the rules for delays and plays.
  ///
  /// - Parameter structure: The structure of a GIF, or nil if no rule needs it.
  fileprivate mutating func addTimes(of image: AnimatedImage, _ structure: GIFStructure?) {
    guard behaviour.animates, image.format != .png, !difference.isTotal else { return }
    // Whether the loop count is in a block that all programs know.
    let givesLoop = image.format != .gif || structure?.hasNetscapeLoop ?? false
    switch behaviour.plays?.kind {
    case nil: plays = nil
    case .file: plays = .count(image.playCount)
    case .netscape:
      var count = givesLoop ? image.playCount : .once
      if givesLoop, let number = structure?.netscapeLoopCount {
        count = number == 0 ? .indefinite : .finite(number + 1)
      }
      losesPlays = count != image.playCount
      plays = .count(count)
    case .once: plays = .count(.once)
    case .forever: plays = .count(.indefinite)
    case .storedNumber: plays = .stored(givesLoop ? image.storedLoopCount.map(Int.init) : nil)
    }
    guard let rule = behaviour.delays else { return }
    for frame in image.frames {
      let stored = frame.delay.duration
      var shown = rule.shownDuration(of: frame.delay)
      if rule.isInherited, let structure, structure.frames.indices.contains(frame.index),
        !structure.frames[frame.index].hasControl, let last = durations.last.flatMap({ $0 })
      {
        shown = last
      }
      durations.append(shown < .zero ? nil : shown)
      guard shown < stored - .microseconds(10) || shown > stored + .microseconds(10) else {
        continue
      }
      changes.append(
        Explanation.ChangedDelay(
          frame: frame.index, stored: stored, shown: shown < .zero ? nil : shown))
    }
  }

  /// The rules that had an effect on this file.
  package var effectiveRules: [Rule] {
    var rules: [Rule] = []
    if !behaviour.animates { rules += behaviour.rules.filter { $0.subject == .format } }
    if !changes.isEmpty, let rule = behaviour.delays?.rule { rules.append(rule) }
    if plays != nil, let rule = behaviour.plays, rule.kind != .file,
      rule.kind != .netscape || losesPlays
    {
      rules.append(rule.rule)
    }
    if let rule = difference.rule, !rules.contains(rule) { rules.append(rule) }
    return rules
  }
}

extension Behaviour {
  /// All rules that describe the behaviour.
  package var allRules: [Rule] {
    var rules =
      [delays?.rule, plays?.rule, profiles, interlacedRow, paletteIndex].compactMap { $0 }
      + self.rules
    switch pictures {
    case .same, .unknown: break
    case .gif(let model): rules += [model.rules.canvas, model.rules.dispose, model.rules.frames]
    case .still(let rule): rules.append(rule)
    case .apng(let model): rules += [model.rules.blend, model.rules.dispose, model.rules.frames]
    }
    return rules
  }
}
