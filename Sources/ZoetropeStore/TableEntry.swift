/// The entry of one slot in a table: the key of the frame in the slot, the hash of the frame's pixels, and the damage
/// found in the frame.
///
/// An entry has 256 bytes. The last eight bytes are a checksum over the rest of the entry, the table's number and the
/// slot, so an entry that was only partly written, or was copied from elsewhere, is invalid. If the first word is zero,
/// the slot is empty.
struct TableEntry: Sendable {
  static let byteCount = 256
  private static let wordCount = byteCount / 8
  /// The number of the first word of the damage's text. The text is stored in words 11 to 30.
  private static let textStart = 11
  private static let textBytes = (wordCount - 1 - textStart) * 8

  private var words = InlineArray<32, UInt64>(repeating: 0)

  /// Creates the entry of a slot whose pixels have the hash `pixelHash`. Returns nil if the text of the damage does not
  /// fit in the entry.
  init?(
    _ key: TableKey, pixelHash: UInt64, damage: Damage?, in slot: Int, of layout: TableLayout,
    secret: HashSecret
  ) {
    // The first word is random, so that every new content of a slot is verified again.
    words[0] = UInt64.random(in: 1...UInt64.max)
    words[1] = key.high
    words[2] = key.low
    words[3] = key.content.high
    words[4] = key.content.low
    words[5] = UInt64(key.index)
    words[6] = pixelHash
    words[10] = UInt64(UInt32(truncatingIfNeeded: key.size.width)) | UInt64(key.size.height) << 32
    if let damage, !pack(damage) { return nil }
    words[31] = checksum(in: slot, of: layout, secret)
  }

  /// Copies the entry in `bytes`. Returns nil if the entry is empty or not intact.
  init?(copying bytes: borrowing RawSpan, in slot: Int, of layout: TableLayout, secret: HashSecret)
  {
    for place in 0..<Self.wordCount {
      words[place] = bytes.load(UInt64.self, at: place * 8)
    }
    guard words[0] != 0, words[31] == checksum(in: slot, of: layout, secret) else { return nil }
  }

  /// Returns the size of the frame of the entry in `bytes`, which need not be intact.
  static func size(in bytes: borrowing RawSpan) -> PixelSize? {
    guard bytes.byteCount >= byteCount else { return nil }
    let word = bytes.load(UInt64.self, at: 10 * 8)
    return PixelSize(width: Int(word & 0xffff_ffff), height: Int(word >> 32))
  }

  /// Passes the bytes of the entry to `body`.
  func withBytes<Result>(
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result {
    try body(words.span.rawBytes)
  }

  /// A number that identifies the current content of the slot.
  var generation: UInt64 { words[31] }
  var high: UInt64 { words[1] }
  var low: UInt64 { words[2] }
  var pixelHash: UInt64 { words[6] }
  var size: PixelSize {
    PixelSize(width: Int(words[10] & 0xffff_ffff), height: Int(words[10] >> 32))
  }

  private func checksum(in slot: Int, of layout: TableLayout, _ secret: HashSecret) -> UInt64 {
    var copy = words
    copy[31] = layout.number &+ UInt64(slot)
    return secret.hash64(copy.span.rawBytes)
  }

  // MARK: Damage

  /// Stores `damage` in words 7 to 9 and 11 to 30, or returns false if it does not fit. Word 9 contains the lengths of
  /// the kind's name and of the detail, and flags. If word 9 is 0, there is no damage.
  private mutating func pack(_ damage: Damage) -> Bool {
    let (name, detail) = (Array(damage.kind.name.utf8), Array(damage.detail.utf8))
    guard !name.isEmpty, name.count < 256, name.count + detail.count <= Self.textBytes,
      let row = UInt32(exactly: (damage.validRows ?? -1) + 1),
      let frame = UInt32(exactly: (damage.frameIndex ?? -1) + 1)
    else { return false }
    words[7] = UInt64(bitPattern: Int64(damage.byteOffset))
    words[8] = UInt64(frame) | UInt64(row) << 32
    words[9] =
      UInt64(name.count) | UInt64(detail.count) << 8
      | (damage.kind.isTolerated ? 1 << 16 : 0) | (damage.kind.isRefusedByStrict ? 1 << 17 : 0)
    for (place, byte) in (name + detail).enumerated() {
      words[Self.textStart + place / 8] |= UInt64(byte) << UInt64(place % 8 * 8)
    }
    return true
  }

  var damage: Damage? {
    let (nameCount, detailCount) = (Int(words[9] & 0xff), Int(words[9] >> 8 & 0xff))
    guard nameCount > 0, nameCount + detailCount <= Self.textBytes else { return nil }
    let text = (0..<nameCount + detailCount).map { place in
      UInt8(truncatingIfNeeded: words[Self.textStart + place / 8] >> UInt64(place % 8 * 8))
    }
    let kind = Damage.Kind(
      String(decoding: text.prefix(nameCount), as: UTF8.self),
      isTolerated: words[9] & 1 << 16 != 0, isRefusedByStrict: words[9] & 1 << 17 != 0)
    let (frame, row) = (Int(words[8] & 0xffff_ffff), Int(words[8] >> 32))
    return Damage(
      kind, String(decoding: text.dropFirst(nameCount), as: UTF8.self),
      frameIndex: frame == 0 ? nil : frame - 1, byteOffset: Int(Int64(bitPattern: words[7])),
      validRows: row == 0 ? nil : row - 1)
  }
}
