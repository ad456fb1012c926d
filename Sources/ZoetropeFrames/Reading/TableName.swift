/// The part of a table's file name that identifies the format of the table. It consists of the name of the format, a
/// digest of its parameters, and its maximum number of frames.
package struct TableName: Sendable, Hashable {
  package let text: String
  /// The size of the largest possible frame in the table.
  package let box: PixelSize
  package let maximumCount: Int

  init(_ name: String, parameters: String, box: PixelSize, maximumCount: Int) {
    text = "\(Self.encoded(name)).\(Self.digest(parameters)).\(maximumCount)"
    self.box = box
    self.maximumCount = maximumCount
  }

  /// Parses `text`. Returns nil if `text` is not the text of a table name.
  package init?(text: String, box: PixelSize) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let count = Int(parts[2]) else { return nil }
    self.text = text
    self.box = box
    maximumCount = count
  }

  /// The part of the text that contains the name of the format, including the dot after the name.
  package var prefix: String { Self.prefix(of: text) }

  /// The name of the format.
  package var formatName: String { Self.decoded(prefix.dropLast()) }

  private static func prefix(of text: String) -> String {
    String(text[...(text.firstIndex(of: ".") ?? text.startIndex)])
  }

  /// Encodes `name` for use in a file name. Letters, digits and `_` stay; every other byte becomes `%` and two
  /// hexadecimal digits.
  ///
  /// If the result would have more than 96 bytes, the rest is replaced by `%` and a digest of `name`, which leaves room
  /// for the other parts of a file name of 255 bytes.
  package static func encoded(_ name: String) -> String {
    var text = ""
    for scalar in name.unicodeScalars {
      let piece = String(scalar).utf8.map(encoded).joined()
      guard text.utf8.count + piece.utf8.count <= 96 else { return text + "%" + digest(name) }
      text += piece
    }
    return text
  }

  private static func encoded(_ byte: UInt8) -> String {
    let scalar = Unicode.Scalar(byte)
    if byte < 128, Character(scalar).isLetter || Character(scalar).isNumber || byte == 0x5f {
      return String(scalar)
    }
    return (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
  }

  private static func decoded(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == 0x25, rest.count >= 2,
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns a 64-bit FNV-1a hash of `text`, which is equal in every process. Collisions do not matter for security,
  /// because only callers choose `text`.
  private static func digest(_ text: String) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return String(hash, radix: 16)
  }
}
