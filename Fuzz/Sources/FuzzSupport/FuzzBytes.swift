/// Reading and judging what libFuzzer gives to a target.
public enum FuzzBytes {
  /// A copy of one input.
  ///
  /// - Precondition: `data` has `count` bytes, or is nil and `count` is 0.
  @unsafe public static func copy(_ data: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
    unsafe Array(UnsafeBufferPointer(start: data, count: count))
  }

  /// A number made of all bytes (FNV-1a), to choose by what is tried with an input.
  public static func hash(_ bytes: [UInt8]) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return hash
  }

  /// Ends the process with a message when a promise is broken: that is a finding.
  public static func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { fatalError(message()) }
  }
}
