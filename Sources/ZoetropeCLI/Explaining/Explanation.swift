import Zoetrope
import ZoetropeProcess

/// How programs play one file, predicted from their rules.
struct Explanation {
  static let schema = "zoetrope.explain/1"

  /// A delay that a program changes by more than a hundredth of a millisecond.
  struct ChangedDelay: Hashable, Sendable {
    let frame: Int
    let stored: Duration
    /// Nil where the program's arithmetic overflows.
    let shown: Duration?
  }

  /// How often a program plays the file.
  enum Plays: Hashable, Sendable {
    case count(PlayCount)
    /// It does not play, and hands over this number; nil for none.
    case stored(Int?)
  }

  /// What one program does with the file.
  struct Prediction: Hashable, Sendable {
    let program: Program
    let behaviour: Behaviour
    /// Nil if it does not animate the file, or shows nothing of it.
    var plays: Plays?
    /// Whether it does not know, or does not reach, the block with the file's loop count.
    var losesPlays = false
    /// How long each frame is shown; nil where that overflows. Empty if it does not animate the file, or shows
    /// nothing of it.
    var durations: [Duration?] = []
    var changes: [ChangedDelay] = []
    var difference = FrameDifference.unknown

    /// The duration of one play; nil without one, or if it overflows.
    var playDuration: Duration? {
      var sum = Duration.zero
      for duration in durations {
        guard let duration else { return nil }
        sum += duration
      }
      // Each was rounded down to nanoseconds, which would make 999.999 ms of twelve twelfths of a second.
      let lost = Duration.nanoseconds(durations.count)
      let microsecond: Int64 = 1_000_000_000_000
      let missing = (microsecond - sum.components.attoseconds % microsecond) % microsecond
      let missingTime = Duration(secondsComponent: 0, attosecondsComponent: missing)
      if missingTime <= lost { sum += missingTime }
      return durations.isEmpty ? nil : sum
    }
  }

  let input: InputFile
  let image: AnimatedImage
  let predictions: [Prediction]

  /// Predicts what `programs` do with `image`. Decodes every frame if one of them has a model.
  ///
  /// - Throws: what decoding throws; `cancelled` after a signal.
  init(
    of image: AnimatedImage, input: InputFile, programs: [Program]
  ) throws(AnimatedImageError) {
    (self.input, self.image) = (input, image)
    let behaviours = programs.map { $0.behaviour(for: image.format) }
    let differences = try PictureComparison.differences(of: image, behaviours)
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
  /// Applies the rules of delays and plays.
  ///
  /// - Parameter structure: That of a GIF, if a rule needs it.
  fileprivate mutating func addTimes(of image: AnimatedImage, _ structure: GIFStructure?) {
    guard behaviour.animates, image.format != .png, !difference.isTotal else { return }
    // Whether the loop count is in the block that all programs know.
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
  var effectiveRules: [Rule] {
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
  /// Everything that is known of it.
  var allRules: [Rule] {
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

// MARK: - JSON

extension Explanation {
  /// Writes it as one object of ``schema``.
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("schema", Self.schema)
      json.field("file", input.fileName, base64Key: "file_base64")
      json.field("format", image.format.rawValue)
      json.field("width", image.canvasSize.width)
      json.field("height", image.canvasSize.height)
      json.field("frame_count", image.frames.count)
      json.array("programs") { for prediction in predictions { prediction.write(to: &$0) } }
    }
  }
}

extension Explanation.Prediction {
  fileprivate func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("id", program.id)
      json.field("name", program.name)
      json.field("animates", behaviour.animates)
      switch plays {
      case .count(.finite(let count)): json.field("plays", count)
      default: json.field("plays", Int?.none)
      }
      json.field("forever", plays == .count(.indefinite))
      if case .stored(let number) = plays { json.field("stored_loop", number) }
      json.field("play_ms", numberText: playDuration.map { Decimal($0).description })
      json.array("changed_delays") { json in
        for change in changes {
          json.object {
            $0.field("frame", change.frame)
            $0.field("delay_ms", Decimal(change.stored))
            $0.field("shown_ms", numberText: change.shown.map { Decimal($0).description })
          }
        }
      }
      json.object("difference") {
        $0.field("outcome", difference.outcome.rawValue)
        $0.field("frame", difference.frame)
        $0.field("cause", difference.cause?.rawValue)
        $0.field("detail", difference.detail)
      }
      let effective = effectiveRules
      json.array("rules") { json in
        for rule in behaviour.allRules { rule.write(to: &json, applies: effective.contains(rule)) }
      }
    }
  }
}

extension Rule {
  fileprivate func write(to json: inout JSONWriter, applies: Bool) {
    json.object {
      $0.field("subject", subject.rawValue)
      $0.field("text", text)
      $0.field("applies", applies)
      if case .measured(let version) = evidence {
        $0.field("evidence", "measured")
        $0.field("version", version)
      } else {
        $0.field("evidence", "reported")
        $0.field("version", String?.none)
      }
      $0.field("source", source)
    }
  }
}

// MARK: - Text

extension Explanation {
  /// A table of the programs, and below it the rules that had an effect.
  var text: String {
    let count = image.frames.count
    var text =
      "\(input.name.sanitized): \(image.format.rawValue.uppercased()), \(image.canvasSize), "
      + "\(count) frame\(count == 1 ? "" : "s")\n"
    let titles = ["program", "plays", "one play", "delays changed", "first frame that differs"]
    let rows = [titles] + predictions.map(\.cells)
    let widths = titles.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    for row in rows {
      let cells = zip(row, widths).enumerated().map { column, cell in
        column == titles.count - 1 ? cell.0 : cell.0.paddedRight(to: cell.1)
      }
      text += "  " + cells.joined(separator: "  ") + "\n"
    }
    for prediction in predictions {
      for rule in prediction.effectiveRules {
        text += "  \(prediction.program.id), \(rule.subject.rawValue): \(rule.text) "
        if case .measured(let version) = rule.evidence {
          text += "[measured, \(version)]"
        } else {
          text += "[reported]"
        }
        text += "\n    \(rule.source)\n"
      }
    }
    return text
  }
}

extension Explanation.Prediction {
  fileprivate var cells: [String] {
    [program.id, playText, durationText, changeText, differenceText]
  }

  private var playText: String {
    switch plays {
    case nil: "-"
    case .count(.indefinite): "forever"
    case .count(.finite(1)): "once"
    case .count(.finite(let count)): "\(count) times"
    case .stored(let number): number.map { "loop=\($0)" } ?? "no loop"
    }
  }

  private var durationText: String {
    if durations.isEmpty { return "-" }
    return playDuration.map { "\(Decimal($0)) ms" } ?? "overflows"
  }

  /// How many delays, and from what to what they are changed.
  private var changeText: String {
    guard !changes.isEmpty else { return durations.isEmpty ? "-" : "none" }
    var ways: [String] = []
    for change in changes {
      let shown = change.shown.map { "\(Decimal($0))" } ?? "overflow"
      let way = "\(Decimal(change.stored)) to \(shown) ms"
      if !ways.contains(way) { ways.append(way) }
      if ways.count > 2 { break }
    }
    let more = ways.count > 2 ? ", …" : ""
    return "\(changes.count): " + ways.prefix(2).joined(separator: ", ") + more
  }

  private var differenceText: String {
    let cause = difference.cause?.rawValue ?? ""
    let detail = difference.detail.map { " (\($0))" } ?? ""
    switch difference.outcome {
    case .none: return "none"
    case .unknown: return "none known"
    case .differs:
      return (difference.isTotal ? "shows nothing: " : "\(difference.frame ?? 0): ") + cause
        + detail
    case .unpredicted: return "from \(difference.frame ?? 0) on unknown: \(cause)\(detail)"
    }
  }
}
