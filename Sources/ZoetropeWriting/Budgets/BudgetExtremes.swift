/// The last resort of a ``BudgetSearch``: the extreme settings of each kind by themselves, which may give a smaller
/// file than all of them together.
///
/// For example, similar colours make flat pictures larger, and dithering with few colours makes gradients larger.
struct BudgetExtremes: Sendable {
  typealias Settings = BudgetSearch.Settings

  /// The settings that are left to encode.
  private var left: [Settings]

  init(_ settings: [Settings]) { left = settings }

  /// Returns the settings to sample next, or nil if `samples`, the known estimates, includes all settings.
  func nextSample(_ samples: [Settings: Double]) -> Settings? {
    left.first { samples[$0] == nil }
  }

  /// Removes and returns the settings to encode next, or nil if no file promises to be smaller than `least`.
  ///
  /// - Parameters:
  ///   - samples: The estimated byte counts.
  ///   - aim: The byte count that estimates should not exceed.
  ///   - least: The byte count of the smallest known file, or nil if none is known.
  mutating func next(
    _ samples: [Settings: Double], aim: Double, least: Int?
  ) -> Settings? {
    // Estimates may be too high by a tenth.
    let most = least.map { 1.1 * Double($0) } ?? .greatestFiniteMagnitude
    // Of the files that fit, the largest is the mildest.
    func rank(_ settings: Settings) -> Double {
      let bytes = samples[settings] ?? .infinity
      return bytes <= aim ? -bytes : bytes
    }
    let best = left.filter { samples[$0] ?? .infinity <= most }.min { rank($0) < rank($1) }
    left.removeAll { $0 == best }
    return best
  }
}
