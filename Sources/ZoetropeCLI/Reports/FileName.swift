import SystemPackage
import ZoetropeTerminal

/// The name of a file for reports: text, and the bytes where they are not that text in UTF-8.
struct FileName: Hashable, Sendable {
  let text: String
  /// Nil when `text` says it all.
  let bytes: [UInt8]?

  init(_ bytes: [UInt8]) {
    text = String(decoding: bytes, as: UTF8.self)
    self.bytes = bytes.elementsEqual(text.utf8) ? nil : bytes
  }

  init(_ path: FilePath) { self.init(path.bytes) }

  /// The name that was given as `argument` (see ``RawArguments``).
  init(argument: String) { self.init(RawArguments.bytes(of: argument)) }
}

extension JSONWriter {
  /// Writes the field `key` with a file's name and, when that is not UTF-8, `base64Key` with its
  /// bytes.
  mutating func field(_ key: StaticString, _ name: FileName?, base64Key: StaticString) {
    field(key, name?.text)
    guard let bytes = name?.bytes else { return }
    var text: [UInt8] = []
    Base64.append(bytes[...], to: &text)
    field(base64Key, String(decoding: text, as: UTF8.self))
  }
}
