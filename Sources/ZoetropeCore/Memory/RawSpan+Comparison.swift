internal import Glibc

extension RawSpan {
  /// Whether both spans hold the same bytes.
  package func hasSameBytes(as other: RawSpan) -> Bool {
    guard byteCount == other.byteCount else { return false }
    guard byteCount > 0 else { return true }
    return unsafe withUnsafeBytes { left in
      unsafe other.withUnsafeBytes { right in
        // Both are `byteCount` > 0 bytes long, so neither address is nil.
        unsafe left.elementsEqualMemory(right)
      }
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether two buffers of the same length hold the same bytes.
  @unsafe fileprivate func elementsEqualMemory(_ other: UnsafeRawBufferPointer) -> Bool {
    guard let mine = baseAddress, let theirs = other.baseAddress else { return count == 0 }
    return unsafe memcmp(mine, theirs, count) == 0
  }
}
