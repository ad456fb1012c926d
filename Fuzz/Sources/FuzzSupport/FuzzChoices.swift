/// Choices drawn from the bytes of an input; zeros when they run out.
public struct FuzzChoices {
  private var rest: ArraySlice<UInt8>

  /// Choices from `bytes`.
  public init(_ bytes: [UInt8]) { rest = bytes[...] }

  /// Whether every byte was used.
  public var isEmpty: Bool { rest.isEmpty }

  /// The next byte.
  public mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  /// The next two bytes, least significant first.
  public mutating func word() -> UInt16 { UInt16(byte()) | UInt16(byte()) << 8 }

  /// A number below `limit`, which is at most 65536.
  public mutating func below(_ limit: Int) -> Int {
    guard limit > 1 else { return 0 }
    return Int(limit > 256 ? word() : UInt16(byte())) % limit
  }

  /// The next `count` bytes, or as many as there are.
  public mutating func bytes(_ count: Int) -> [UInt8] {
    let part = Array(rest.prefix(count))
    rest = rest.dropFirst(count)
    return part
  }

  /// All bytes that are left.
  public mutating func remainder() -> [UInt8] { bytes(rest.count) }
}
