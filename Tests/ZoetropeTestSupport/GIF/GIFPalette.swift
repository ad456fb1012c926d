public import Zoetrope

/// A GIF colour table: written with 2, 4, 8 … 256 entries, the missing ones black.
public struct GIFPalette: Sendable, Hashable {
  /// The colours; alpha is not written.
  public var colors: [RGBA]
  /// Whether the sort flag is set.
  public var isSorted: Bool

  /// A table of at most 256 colours; more are left out.
  public init(_ colors: [RGBA], isSorted: Bool = false) {
    self.colors = Array(colors.prefix(256))
    self.isSorted = isSorted
  }

  /// The table's size as its three bits store it: 2^(n + 1) entries.
  var sizeField: UInt8 {
    var field: UInt8 = 0
    while field < 7, 2 << Int(field) < colors.count { field += 1 }
    return field
  }

  var bytes: [UInt8] {
    let missing = (2 << Int(sizeField)) - colors.count
    return colors.flatMap { [$0.red, $0.green, $0.blue] }
      + [UInt8](repeating: 0, count: max(missing, 0) * 3)
  }
}
