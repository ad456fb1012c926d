/// Counts what is kept of a file's metadata, so that it stays within the limits.
struct MetadataBudget: Sendable {
  let limits: DecodingLimits
  private var count = 0
  /// Whether something was left out.
  private(set) var isExceeded = false

  init(limits: DecodingLimits) { self.limits = limits }

  /// Asks to keep one more item of `byteCount` bytes.
  mutating func admits(byteCount: Int) -> Bool {
    guard count < limits.metadataCount, byteCount <= limits.metadataBytes else {
      isExceeded = true
      return false
    }
    count += 1
    return true
  }
}
