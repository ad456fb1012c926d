extension Int {
  /// A byte count for people, such as `412 B`, `96 kB` or `1.2 MB`.
  package var byteSize: String {
    if self < 1000 { return "\(self) B" }
    if self < 1_000_000 { return "\(self / 1000) kB" }
    let tenths = self / 100_000
    if tenths < 10_000 { return "\(tenths / 10).\(tenths % 10) MB" }
    return "\(tenths / 10_000).\(tenths / 1000 % 10) GB"
  }
}
