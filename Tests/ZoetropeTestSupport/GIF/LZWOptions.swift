/// How to write a GIF code stream, valid or malformed.
public struct LZWOptions: Sendable, Hashable {
  /// The defect of the stream, and after how many pixels it comes.
  public enum Fault: Sendable, Hashable {
    /// The end code comes too early; nothing follows.
    case endCode(afterPixels: Int)
    /// A code past the next free one; the remaining pixels follow it.
    case badCode(afterPixels: Int)
    /// The data ends without an end code.
    case stop(afterPixels: Int)
  }

  /// What to do when the table holds 4096 codes.
  public enum FullTable: Sendable, Hashable {
    /// Write a clear code and start again.
    case clear
    /// Continue with the full table (the *deferred clear* that GIF89a allows).
    case keep
  }

  /// The minimum code size used for the codes; nil for the smallest that fits.
  public var minimumCodeSize: Int?
  /// The minimum code size that is stored before the data; nil for the real one.
  public var declaredCodeSize: UInt8?
  /// Whether the stream starts with a clear code.
  public var startsWithClear = true
  /// Whether the stream ends with an end code.
  public var endsWithEndCode = true
  /// The number of pixels between clear codes; nil for clear codes only when the table is full.
  public var clearInterval: Int?
  /// What to do when the table is full.
  public var fullTable = FullTable.clear
  /// What breaks the stream; nil for nothing.
  public var fault: Fault?
  /// Pixels of index 0 after the last one.
  public var surplusPixels = 0
  /// Bytes after the end code, in the same sub-blocks.
  public var tail: [UInt8] = []

  /// A correct stream.
  public init() {}
}
