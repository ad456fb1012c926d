import ZoetropeFrames

/// The first frame in which a program's picture differs from this package's picture, and the reason.
package struct PredictedDifference: Hashable, Sendable {
  package enum Outcome: String, Sendable {
    /// Every frame was compared, and no frame differs.
    case none
    /// No rule predicts a difference, and the pictures were not compared.
    case unknown
    case differs
    /// Nothing is predicted from this frame on.
    case unpredicted
  }

  package let outcome: Outcome
  package var frame: Int?
  package var cause: Rule.Subject?
  /// The frame's property that causes the difference.
  package var detail: String?
  /// The rule that causes the difference.
  var rule: Rule?
  /// Whether the program shows nothing of the file.
  package var isTotal = false

  static let none = PredictedDifference(outcome: .none)
  static let unknown = PredictedDifference(outcome: .unknown)

  static func differs(at frame: Int, _ rule: Rule, _ detail: String) -> PredictedDifference {
    PredictedDifference(
      outcome: .differs, frame: frame, cause: rule.subject, detail: detail, rule: rule)
  }

  /// Returns the difference of a program that shows nothing of the file, because of `rule`.
  static func nothing(_ rule: Rule, _ detail: String) -> PredictedDifference {
    var difference = differs(at: 0, rule, detail)
    difference.isTotal = true
    return difference
  }

  /// Returns the difference of a program that shows neither frame `index` nor any later frame, because of `rule`.
  static func ends(at index: Int, _ rule: Rule, _ detail: String) -> PredictedDifference {
    index == 0 ? nothing(rule, detail) : differs(at: index, rule, detail)
  }

  static func unpredicted(
    from frame: Int, _ cause: Rule.Subject, _ detail: String
  ) -> PredictedDifference {
    PredictedDifference(outcome: .unpredicted, frame: frame, cause: cause, detail: detail)
  }
}
