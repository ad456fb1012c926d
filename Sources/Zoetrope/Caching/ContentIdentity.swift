internal import CXXHash

/// What a file's bytes are, whatever it is called and wherever it lies: their XXH3-128 hash.
///
/// Two images with equal bytes share their cached frames, and a file that was written anew is never
/// served from frames of the old one. The hash is fast (tens of GB/s) and not cryptographic: whoever
/// may choose both files can make two that collide, so do not use it to tell friend from foe.
public struct ContentIdentity: Sendable, Hashable {
  /// The upper 64 bits of the hash.
  public let high: UInt64
  /// The lower 64 bits of the hash.
  public let low: UInt64

  /// The identity with these bits, as read back from ``description``'s two halves or from a store.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The identity of `bytes`. Reads every byte once.
  public init(of bytes: borrowing RawSpan) {
    // The span's buffer is valid for the call; xxHash takes a nil address for no bytes.
    let hash = unsafe bytes.withUnsafeBytes { buffer in
      unsafe XXH3_128bits(buffer.baseAddress, buffer.count)
    }
    self.init(high: hash.high64, low: hash.low64)
  }

  /// The identity of `bytes`. Reads every byte once.
  public init(of bytes: [UInt8]) {
    // `Span.bytes` counts as unsafe for types with padding; bytes have none.
    unsafe self.init(of: bytes.span.bytes)
  }
}

extension ContentIdentity: CustomStringConvertible {
  /// 32 hexadecimal digits, highest first, as `xxh128sum` prints them.
  public var description: String { Self.digits(high) + Self.digits(low) }

  private static func digits(_ word: UInt64) -> String {
    let text = String(word, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
  }
}
