/// Counts what is kept of a file's metadata, so that it stays within the limits.
struct MetadataBudget: Sendable {
  let limits: DecodingLimits
  private var count = 0
  private var byteCount = 0
  private var hasLeftOut = false

  init(limits: DecodingLimits) { self.limits = limits }

  /// Bytes that one more item may have.
  var itemBytes: Int { min(limits.metadataBytes, limits.metadataTotalBytes - byteCount) }

  /// Asks to keep one more item of `byteCount` bytes.
  mutating func admits(byteCount: Int) -> Bool {
    guard count < limits.metadataCount, byteCount <= itemBytes else { return false }
    count += 1
    self.byteCount += byteCount
    return true
  }

  /// Charges an admitted item with what inflating added to it; at most ``itemBytes``.
  mutating func charge(_ more: Int) { byteCount += max(more, 0) }

  /// An item is left out; says whether it is the first, which is worth a remark.
  mutating func leaveOut() -> Bool {
    defer { hasLeftOut = true }
    return !hasLeftOut
  }
}
