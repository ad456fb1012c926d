package import SystemPackage

/// Functions that recognise which files in a store's directory belong to the store.
///
/// A user may choose any directory for a store, such as a home directory, so other files are neither counted nor
/// removed.
enum StoreFiles {
  /// The suffix of the names of all tables, whatever their version and secret.
  static let tableSuffix = ".frames"
  /// The suffix of the name of a file that is being written.
  private static let newSuffix = ".new"

  /// Returns whether the file called `name` is a table, an unfinished table or an unfinished secret.
  static func isTable(_ name: String) -> Bool {
    if isTableName(name[...]) { return true }
    guard let finalName = finalName(of: name) else { return false }
    return isTableName(finalName) || finalName == StoreSecret.fileName
  }

  /// Returns whether `name` has the form `[NAME.DIGEST.COUNT-]WxH-FORMAT-SECRET-vN.N.frames`. Checking the suffix alone
  /// is not enough, because other programs may also have files whose names end in `.frames`.
  private static func isTableName(_ name: Substring) -> Bool {
    guard name.hasSuffix(tableSuffix) else { return false }
    var parts = name.dropLast(tableSuffix.utf8.count)
      .split(separator: "-", omittingEmptySubsequences: false)
    if parts.count == 5 {
      let format = parts.removeFirst().split(separator: ".", omittingEmptySubsequences: false)
      guard format.count == 3, isHexadecimal(format[1]), isDecimal(format[2]) else { return false }
    }
    guard parts.count == 4, parts[3].first == "v" else { return false }
    let sides = parts[0].split(separator: "x", omittingEmptySubsequences: false)
    let versions = parts[3].dropFirst().split(separator: ".", omittingEmptySubsequences: false)
    let numbers = sides + versions
    return sides.count == 2 && versions.count == 2 && numbers.allSatisfy { isDecimal($0) }
      && !parts[1].isEmpty && isHexadecimal(parts[2])
  }

  /// Returns whether the file called `name` in a store's `index` directory is a record or an unfinished record.
  static func isRecord(_ name: String) -> Bool {
    let name = finalName(of: name) ?? name[...]
    return name.utf8.count == 32 && isHexadecimal(name)
  }

  /// Returns the name that a file called `name` gets once it has been written (`NAME` for `NAME.NUMBER.new`), or nil if
  /// `name` does not have that form.
  private static func finalName(of name: String) -> Substring? {
    guard name.hasSuffix(newSuffix) else { return nil }
    let rest = name.dropLast(newSuffix.utf8.count)
    guard let dot = rest.lastIndex(of: "."), isHexadecimal(rest[dot...].dropFirst()) else {
      return nil
    }
    return rest[..<dot]
  }

  private static func isDecimal(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }

  private static func isHexadecimal(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
  }
}

extension FrameStore {
  /// Returns whether `directory` already contains a store, which means that it contains a secret, or any other file of
  /// a store whose secret was lost. (Opening a store to find out would create one.)
  ///
  /// - Throws: `storeDenied` or `io` if it cannot be determined whether the directory contains a store.
  package static func exists(at directory: FilePath) throws(AnimatedImageError) -> Bool {
    if try TableDirectory.isPresent(directory.appending(StoreSecret.fileName)) { return true }
    guard try TableDirectory.isPresent(directory) else { return false }
    return TableDirectory.files(in: directory).contains { StoreFiles.isTable($0.name) }
      || TableDirectory.files(in: directory.appending("index"))
        .contains { StoreFiles.isRecord($0.name) }
  }

  /// The number of records about known files, and the number of bytes that these records take on disk.
  var recordUsage: (count: Int, byteCount: Int) {
    let records = index.records()
    return (records.count, records.reduce(0) { $0 + $1.status.allocatedBytes })
  }
}
