internal import Synchronization

/// The formats that can be decoded.
package enum FormatTable {
  /// The formats of this package. To add a format, add an element to this array.
  private static let builtIn: [any FormatCodec] = [GIFCodec(), PNGCodec()]

  private static let builtInRows = Dictionary(
    uniqueKeysWithValues: builtIn.flatMap { row in row.formats.map { ($0, row) } })
  private static let added = Mutex<[any FormatCodec]>([])

  /// All rows: the formats of this package, followed by those that ``add(_:)`` has added.
  package static var rows: [any FormatCodec] { builtIn + added.withLock { $0 } }

  /// The formats in which files with a usual name can be written.
  package static var writableFormats: [AnimationFormat] {
    rows.filter { !$0.fileExtensions.isEmpty }.flatMap(\.formats).filter { $0.writable != nil }
  }

  /// The extensions of files in these formats, such as ".gif, .png or .apng".
  package static var writableExtensions: String {
    let words = rows.filter { $0.writtenFormat != nil }.flatMap(\.fileExtensions).map { ".\($0)" }
    return words.dropLast().joined(separator: ", ") + " or \(words.last ?? "")"
  }

  /// Adds a row, which stays until the process exits. Only tests add rows.
  ///
  /// Rows are global, rather than task-local or part of ``DecodingOptions``, because frames are decoded on the
  /// library's threads, and because a record on disk contains only the name of its format. A row is never removed, so
  /// that every ``ImageHeader`` keeps its row.
  package static func add(_ row: any FormatCodec) {
    added.withLock { added in
      if !added.contains(where: { $0.formats == row.formats }) { added.append(row) }
    }
  }

  /// Returns the row of `format`, or nil if the format cannot be decoded.
  package static func row(of format: AnimationFormat) -> (any FormatCodec)? {
    builtInRows[format] ?? added.withLock { $0.first { $0.formats.contains(format) } }
  }

  /// The error for bytes that match none of the signatures. It names the formats of this package, whatever rows are
  /// added meanwhile.
  static let noSignature = AnimatedImageError(
    .notAnImage, "no \(builtIn.map(\.name).joined(separator: " or ")) signature", byteOffset: 0)
}

extension ImageHeader {
  /// The row of the file's format in the ``FormatTable``.
  package var codec: any FormatCodec {
    guard let row = FormatTable.row(of: format) else {
      // A header comes from the scanner of a row, or from a record whose format was found in the table.
      preconditionFailure("no row for \(format)")
    }
    return row
  }
}

extension AnimationFormat {
  /// The name that users see. It is the name of the file format, so the name of APNG is "PNG".
  package var displayName: String { FormatTable.row(of: self)?.name ?? rawValue.uppercased() }
  /// The extension of files that are written in this format. For APNG, it is "png", which sites and viewers expect.
  package var fileExtension: String {
    FormatTable.row(of: self)?.fileExtensions.first ?? rawValue
  }
}

extension ScannedImage {
  /// The total number of times that the animation plays, derived from ``storedLoopCount``.
  package var playCount: PlayCount {
    guard let header, let storedLoopCount else { return .once }
    return header.codec.playCount(storedLoopCount, of: header.format)
  }
}
