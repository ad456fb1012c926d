/// How the data of one PNG frame ended, and what it gave.
struct PNGEnding: Error {
  enum Fault {
    /// All rows, and a proper end.
    case none
    /// All rows, but a wrong checksum, more data, or no proper end.
    case adler, surplus, noEnd
    /// Rows are missing.
    case short, filter, stream
  }

  var fault: Fault
  /// Complete rows from the top.
  var rows = 0
  /// What libpng said, or nothing.
  var message = ""
}
