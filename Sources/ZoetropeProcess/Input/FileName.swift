package import SystemPackage
internal import Zoetrope

/// The name of a file for reports: text, and its bytes where they are not valid UTF-8.
package struct FileName: Hashable, Sendable {
  package let text: String
  /// Nil when `text` is the whole name.
  package let bytes: [UInt8]?

  package init(_ bytes: [UInt8]) {
    text = String(decoding: bytes, as: UTF8.self)
    self.bytes = bytes.elementsEqual(text.utf8) ? nil : bytes
  }

  package init(_ path: FilePath) { self.init(path.bytes) }

  /// Creates the name given as `argument` (see ``RawArguments``).
  package init(argument: String) { self.init(RawArguments.bytes(of: argument)) }
}
