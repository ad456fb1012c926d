internal import ZoetropeShims

extension RawSpan {
  /// Has the memory bring the lengths of eight full sub-blocks from `offset` on, which will be read soon.
  ///
  /// A hint: it reads nothing and costs some nanoseconds. Nothing is asked for where they do not all lie
  /// in these bytes.
  func prefetchFullBlocks(at offset: Int) {
    guard offset >= 0, offset < byteCount - 7 * 256 else { return }
    unsafe withUnsafeBytes { bytes in
      // There are bytes, and the last of the eight lies among them, as was asked above.
      guard let start = bytes.baseAddress else { return }
      unsafe zt_prefetch(start.assumingMemoryBound(to: UInt8.self) + offset, 8, 256)
    }
  }
}
