package import SystemPackage

/// Which files in a store's directory are its own.
///
/// A user may name any directory as a store, such as a home directory, so other files are neither
/// counted nor removed.
enum StoreFiles {
  /// The end of every table's name, of any version and secret.
  static let tableSuffix = ".frames"
  /// The end of the name of a file that is being written.
  private static let newSuffix = ".new"

  /// Whether the file is a table, or a table or secret that was being written.
  static func isTable(_ name: String) -> Bool {
    if name.hasSuffix(tableSuffix) { return true }
    guard let finalName = finalName(of: name) else { return false }
    return finalName.hasSuffix(tableSuffix) || finalName == StoreSecret.fileName
  }

  /// Whether the file in a store's `index` is a record, or one that was being written.
  static func isRecord(_ name: String) -> Bool {
    let name = finalName(of: name) ?? name[...]
    return name.utf8.count == 32 && isHexadecimal(name)
  }

  /// The name that a file gets once it is written: `NAME` of `NAME.NUMBER.new`.
  private static func finalName(of name: String) -> Substring? {
    guard name.hasSuffix(newSuffix) else { return nil }
    let rest = name.dropLast(newSuffix.utf8.count)
    guard let dot = rest.lastIndex(of: "."), isHexadecimal(rest[dot...].dropFirst()) else {
      return nil
    }
    return rest[..<dot]
  }

  private static func isHexadecimal(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
  }
}

extension FrameStore {
  /// Whether there is a store in `directory`, which opening one would create.
  package static func exists(at directory: FilePath) -> Bool {
    TableDirectory.exists(directory.appending(StoreSecret.fileName))
  }

  /// The records about known files: their number, and their bytes on disk.
  var recordUsage: (count: Int, byteCount: Int) {
    let records = index.records()
    return (records.count, records.reduce(0) { $0 + $1.status.allocatedBytes })
  }
}
