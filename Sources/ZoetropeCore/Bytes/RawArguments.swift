internal import Synchronization

/// The raw bytes of the command-line arguments.
package enum RawArguments {
  /// The names in the arguments of this process; see ``names(in:)``.
  private static let given = names(in: commandLineArguments())

  /// The names that were found in directories and lists and whose texts contain a replacement character, keyed by
  /// their text.
  private static let found = Mutex<[String: Set<[UInt8]>]>([:])

  /// A text as which two different names in the arguments of this process read, so that the text does not tell which
  /// of them is meant. Nil if there is none.
  package static var ambiguousText: String? { given.filter { $0.value.count > 1 }.keys.min() }

  /// Returns the names in `arguments` whose texts contain a replacement character, keyed by their text.
  ///
  /// A name is a whole argument, or the value in `--option=NAME`, `-o=NAME` or `-oNAME`. Names in valid UTF-8 are
  /// included, because another name may read like them.
  static func names(in arguments: [[UInt8]]) -> [String: Set<[UInt8]>] {
    var names: [String: Set<[UInt8]>] = [:]
    var areOptions = true
    for argument in arguments {
      var parts = [argument[...]]
      if areOptions, argument.first == UInt8(ascii: "-") {
        parts.append(argument.dropFirst(2))
        if let sign = argument.firstIndex(of: UInt8(ascii: "=")) {
          parts.append(argument[(sign + 1)...])
        }
      }
      if argument.elementsEqual("--".utf8) { areOptions = false }
      for part in parts {
        let text = String(decoding: part, as: UTF8.self)
        guard text.unicodeScalars.contains("\u{fffd}") else { continue }
        names[text, default: []].insert(Array(part))
      }
    }
    return names
  }

  /// Records the bytes of a name that was found in a directory or a list, so that ``bytes(of:)`` can return them, and
  /// returns the name's text.
  package static func text(ofFound name: [UInt8]) -> String {
    let text = String(decoding: name, as: UTF8.self)
    if text.unicodeScalars.contains("\u{fffd}") {
      found.withLock { _ = $0[text, default: []].insert(name) }
    }
    return text
  }

  /// Returns the bytes of the argument whose text is `argument`.
  ///
  /// The UTF-8 bytes of the text differ from the original bytes only if the text contains a replacement character. In
  /// that case, the result is the bytes of the name in the command line that decodes to the same text, or else those of
  /// the name that ``text(ofFound:)`` recorded. If several names decode to that text, none of them is chosen.
  package static func bytes(of argument: String) -> [UInt8] {
    guard argument.unicodeScalars.contains("\u{fffd}") else { return Array(argument.utf8) }
    let names = given[argument] ?? found.withLock { $0[argument] } ?? []
    guard names.count == 1, let bytes = names.first else { return Array(argument.utf8) }
    return bytes
  }
}
