internal import CDeflate

/// Inflates small zlib streams of metadata, within a limit.
enum Inflate {
  /// The inflated bytes; nil when the stream is damaged or larger than `limit`.
  static func zlib(_ bytes: ArraySlice<UInt8>, limit: Int) -> [UInt8]? {
    guard !bytes.isEmpty, let decompressor = unsafe libdeflate_alloc_decompressor() else {
      return nil
    }
    defer { unsafe libdeflate_free_decompressor(decompressor) }
    // Deflate cannot grow data more than 1,032 times, so the guess ends even without a limit.
    let ceiling = min(limit, bytes.count.multipliedReportingOverflow(by: 1032).partialValue)
    var capacity = min(max(bytes.count * 4, 256), ceiling)
    while true {
      var status = LIBDEFLATE_INSUFFICIENT_SPACE
      let inflated = unsafe [UInt8](unsafeUninitializedCapacity: max(capacity, 1)) {
        output, count in
        // The input buffer outlives the call; libdeflate writes at most `capacity` bytes.
        unsafe bytes.withUnsafeBytes { input in
          unsafe status = libdeflate_zlib_decompress(
            decompressor, input.baseAddress, input.count, output.baseAddress, capacity, &count)
        }
        if status != LIBDEFLATE_SUCCESS { count = 0 }
      }
      if status == LIBDEFLATE_SUCCESS { return inflated }
      guard status == LIBDEFLATE_INSUFFICIENT_SPACE, capacity < ceiling else { return nil }
      capacity = min(capacity * 2, ceiling)
    }
  }
}
