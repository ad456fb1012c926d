/// The outcome of decoding one PNG frame: the defect of its data, if any, and the number of rows that were decoded.
struct PNGFrameOutcome {
  enum Fault {
    /// All rows are present, and the stream ends properly.
    case none
    /// All rows are present, but the stream has a wrong checksum, is followed by more data, or does not end properly.
    case adler, surplus, noEnd
    /// Rows are missing because the data is too short, a row has an unknown filter type, or the stream is damaged.
    case short, filter, stream
  }

  var fault: Fault
  /// The number of complete rows, counted from the top.
  var rows = 0
  /// The message that libpng reported, or an empty string.
  var message = ""
}

/// The last rows in a frame's inflated data, all of the same length.
struct PNGStoredRows {
  /// The number of bytes of inflated data before the first of these rows.
  let start: Int
  /// The number of bytes of a row, including its filter byte.
  let byteCount: Int
}
