extension Int {
  /// Returns the number and `noun`, to which an s is added unless the number is 1, as in `1 frame` or `12 frames`.
  package func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
