/// Fixtures that are not yet opened as their recipes state, each with what is missing.
///
/// The tests demand that each of these fails, so that a line goes when its cause does.
enum OpenMismatches {
  /// Names of recipes to what the engine does in their place.
  static let structure: [String: String] = [:]

  /// Recipes that `.strict` should refuse and does not.
  static let strict: [String: String] = [:]

  /// Recipes whose frames depend on the order in which they are read.
  static let order: [String: String] = [:]
}
