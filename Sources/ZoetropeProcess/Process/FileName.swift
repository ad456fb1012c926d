package import SystemPackage
internal import Zoetrope

/// The name of a file, for reports: as text, and as bytes if the name is not valid UTF-8.
package struct FileName: Hashable, Sendable {
  package let text: String
  /// The bytes of the name, or nil if `text` represents the name exactly.
  package let bytes: [UInt8]?

  package init(_ bytes: [UInt8]) {
    text = String(decoding: bytes, as: UTF8.self)
    self.bytes = bytes.elementsEqual(text.utf8) ? nil : bytes
  }

  package init(_ path: FilePath) { self.init(path.bytes) }

  /// Creates the name that the user gave as `argument` (see ``RawArguments``).
  package init(argument: String) { self.init(RawArguments.bytes(of: argument)) }
}
