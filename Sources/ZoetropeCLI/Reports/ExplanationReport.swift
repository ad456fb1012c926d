import Zoetrope
import ZoetropeExplain
import ZoetropeProcess

/// The report that `explain` prints about one file.
struct ExplanationReport {
  static let schema = "zoetrope.explain/2"

  let input: InputFile
  let explanation: Explanation

  private var image: AnimatedImage { explanation.image }
}

// MARK: - JSON

extension ExplanationReport {
  /// Writes the report as one JSON object of ``schema``.
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("schema", Self.schema)
      json.field("file", input.fileName, base64Key: "file_base64")
      json.field("format", image.format.rawValue)
      json.field("width", image.canvasSize.width)
      json.field("height", image.canvasSize.height)
      json.field("frame_count", image.frames.count)
      json.array("programs") {
        for prediction in explanation.predictions { prediction.write(to: &$0) }
      }
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
      json.field("duration_ms", numberText: playDuration.map { Decimal($0).description })
      json.array("changed_delays") { json in
        for change in changes {
          json.object {
            $0.field("frame", change.frame)
            $0.field("stored_ms", Decimal(change.stored))
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

extension ExplanationReport {
  /// Returns a table of the programs, or a line that says that there is no prediction. If `showsRules`, the rules that
  /// had an effect follow the table.
  func text(showsRules: Bool) -> String {
    var text =
      "\(input.name.sanitized): \(image.format.rawValue.uppercased()), \(image.canvasSize), "
      + "\(image.frames.count.counted("frame"))\n"
    guard !explanation.predictions.isEmpty else { return text + "  no prediction\n" }
    let titles = ["program", "plays", "one play", "delays changed", "first frame that differs"]
    let rows = [titles] + explanation.predictions.map(\.cells)
    let widths = titles.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    for row in rows {
      let cells = zip(row, widths).enumerated().map { column, cell in
        column == titles.count - 1 ? cell.0 : cell.0.paddedRight(to: cell.1)
      }
      text += "  " + cells.joined(separator: "  ") + "\n"
    }
    guard showsRules else { return text }
    for prediction in explanation.predictions {
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

  /// The number of delays that change, and up to two of the changes, such as `2 delays: 10 to 100 ms`.
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
    return "\(changes.count.counted("delay")): "
      + ways.prefix(2).joined(separator: ", ") + more
  }

  private var differenceText: String {
    let cause = difference.cause?.rawValue ?? ""
    let detail = difference.detail.map { " (\($0))" } ?? ""
    switch difference.outcome {
    case .none: return "none"
    case .unknown: return "none known"
    case .differs:
      return (difference.isTotal ? "shows nothing: " : "frame \(difference.frame ?? 0): ") + cause
        + detail
    case .unpredicted: return "unknown from frame \(difference.frame ?? 0): \(cause)\(detail)"
    }
  }
}
