internal import ZoetropeShims

extension RawSpan {
  /// Has the memory bring the lengths of `count` sub-blocks, the first at `offset`, which may be read soon.
  ///
  /// A hint: it reads nothing and costs some nanoseconds. Nothing is asked for where they do not all lie
  /// in these bytes. `count` is 1 or more.
  func prefetchLengths(_ count: Int, at offset: Int, stride: Int) {
    guard offset >= 0, offset < byteCount - (count - 1) * stride else { return }
    unsafe withUnsafeBytes { bytes in
      // There are bytes, and the last of the places lies among them, as was asked above.
      guard let start = bytes.baseAddress else { return }
      unsafe zt_prefetch(start.assumingMemoryBound(to: UInt8.self) + offset, count, stride)
    }
  }
}
