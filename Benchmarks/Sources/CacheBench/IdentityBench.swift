import Zoetrope

/// Measures how fast the identity of bytes is computed.
enum IdentityBench {
  static func run() {
    let bytes = (0..<32 << 20).map { UInt8(truncatingIfNeeded: $0 &* 131) }
    var seen = ContentIdentity(of: bytes.span.bytes)
    let time =
      (0..<5).map { _ in
        CacheBench.nanoseconds { seen = ContentIdentity(of: bytes.span.bytes) }
      }.min() ?? 1
    precondition(seen == ContentIdentity(of: bytes.span.bytes))
    CacheBench.report("identity", Double(bytes.count) / time, "GB/s")
  }
}
