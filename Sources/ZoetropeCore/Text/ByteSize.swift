extension Int {
  /// The number as a byte count for people, such as `412 B`, `96 kB` or `1.2 MB`.
  package var byteSize: String {
    if self < 1000 { return "\(self) B" }
    if self < 1_000_000 { return "\(self / 1000) kB" }
    let tenths = self / 100_000
    if tenths < 10_000 { return "\(tenths / 10).\(tenths % 10) MB" }
    return "\(tenths / 10_000).\(tenths / 1000 % 10) GB"
  }

  /// The number as a pixel count for people, such as `4,096 pixels`, `67.1 megapixels` or `2.2 gigapixels`.
  package var pixelCount: String {
    if self < 1_000_000 { return "\(grouped) pixels" }
    let tenths = self / 100_000
    if tenths < 10_000 { return "\(tenths / 10).\(tenths % 10) megapixels" }
    return "\((tenths / 10_000).grouped).\(tenths / 1000 % 10) gigapixels"
  }

  /// The number with its digits in groups of three, such as `4,096`.
  package var grouped: String {
    var text = String(self)
    var place = text.count - 3
    while place > (self < 0 ? 1 : 0) {
      text.insert(",", at: text.index(text.startIndex, offsetBy: place))
      place -= 3
    }
    return text
  }
}
