/// Expands GIF's LZW codes into palette indices.
///
/// Each string of the dictionary is a piece of the output already written, so a dictionary entry is
/// one number: the position at which the string of the code before it starts. The entry made by a
/// code begins where the previous code's string begins and ends one byte into its own, hence its
/// length is the distance to the next entry's position plus one. Sixteen kilobytes of table stay in
/// the first-level cache beside the recent output; a table with lengths, or with the first eight
/// bytes of each string, does not.
///
/// What browsers accept is accepted: no clear code at the start, clear codes anywhere, a dictionary
/// that stays full, strings that run past the last pixel, no end code. What they refuse (a code that
/// stands for nothing yet) ends the frame with the pixels so far.
///
/// A value with scratch memory of its own; a copy shares nothing that is written.
package struct LZWExpander: Sendable {
  /// Bytes in front of the first pixel that are written as well: the strings of one pixel.
  package static let headroom = 256
  /// Bytes behind the last pixel that may be written as well, since copies are wide.
  package static let slack = 64
  /// The least sizes that can be expanded; GIF allows 2 to 8, browsers 0 to 8.
  package static let minimumCodeSizes = 0...8

  /// Positions relative to the start of the headroom: one for each of 4096 codes, one past them.
  private var positions = [UInt32](repeating: 0, count: LZWCursor.tableCount)
  private var preparedSize = -1

  package init() {}

  /// Writes up to `count` pixels of `codes`, sub-blocks joined, to `output`.
  ///
  /// - Precondition: `minimumCodeSize` is one of ``minimumCodeSizes``, and `output` has
  ///   ``headroom`` bytes in front and ``slack`` bytes behind `count` that may be overwritten.
  @unsafe package mutating func expand(
    _ codes: UnsafeRawBufferPointer, minimumCodeSize: Int,
    into output: UnsafeMutablePointer<UInt8>, count: Int
  ) -> LZWResult {
    precondition(Self.minimumCodeSizes.contains(minimumCodeSize) && count >= 0)
    guard let source = codes.baseAddress else {
      let status = count == 0 ? LZWResult.Status.complete : .dataExhausted
      return LZWResult(
        status: status, trailer: count == 0 ? .missing : .endCode, pixelCount: 0, byteOffset: 0)
    }
    let isPrepared = preparedSize == minimumCodeSize
    preparedSize = minimumCodeSize
    return unsafe positions.withUnsafeMutableBufferPointer { table in
      // The array is never empty, so there is an address.
      guard let table = table.baseAddress else { preconditionFailure("no table") }
      var cursor = unsafe LZWCursor(
        source: source, byteCount: codes.count, base: output - Self.headroom,
        end: Self.headroom + count, table: table, minimumCodeSize: minimumCodeSize)
      if !isPrepared { cursor.prepareTable() }
      return cursor.run()
    }
  }
}
