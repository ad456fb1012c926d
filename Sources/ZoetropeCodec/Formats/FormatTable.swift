internal import Synchronization

/// The formats that can be decoded.
package enum FormatTable {
  /// A new format is one more element here.
  private static let builtIn: [any FormatCodec] = [GIFCodec(), PNGCodec()]

  private static let builtInRows = Dictionary(
    uniqueKeysWithValues: builtIn.flatMap { row in row.formats.map { ($0, row) } })
  private static let added = Mutex<[any FormatCodec]>([])

  /// All rows.
  package static var rows: [any FormatCodec] { builtIn + added.withLock { $0 } }

  /// Adds a row for the rest of the process, for tests.
  ///
  /// Not task-local, nor a value in ``DecodingOptions``: frames are decoded on threads of the library, and a
  /// record on disk names its format and nothing else. A row is never removed, so that every
  /// ``ImageHeader`` keeps its own.
  package static func add(_ row: any FormatCodec) {
    added.withLock { added in
      if !added.contains(where: { $0.formats == row.formats }) { added.append(row) }
    }
  }

  /// The row of `format`; nil if it cannot be decoded.
  package static func row(of format: AnimationFormat) -> (any FormatCodec)? {
    builtInRows[format] ?? added.withLock { $0.first { $0.formats.contains(format) } }
  }

  /// The error for bytes with none of the signatures.
  static var noSignature: AnimatedImageError {
    let names = rows.map(\.name).joined(separator: " or ")
    return AnimatedImageError(.notAnImage, "no \(names) signature", byteOffset: 0)
  }
}

extension ImageHeader {
  /// The row of the file's format.
  package var codec: any FormatCodec {
    guard let row = FormatTable.row(of: format) else {
      // Headers come from the scanner of a row, or from a record whose format was looked up.
      preconditionFailure("no row for \(format)")
    }
    return row
  }
}

extension AnimationFormat {
  /// The name for people; that of the file format, so "PNG" for APNG too.
  package var displayName: String { FormatTable.row(of: self)?.name ?? rawValue.uppercased() }
}

extension ScannedImage {
  /// How many times the animation plays in total, from ``storedLoopCount``.
  package var playCount: PlayCount {
    guard let header, let storedLoopCount else { return .once }
    return header.codec.playCount(storedLoopCount, of: header.format)
  }
}
