/// A scanner that reads the structure of a file of any format. The first bytes of the file determine the format.
///
/// The value must always be mutated in place: a copy would share the list of frames, so that the next append would have
/// to copy the list.
package struct FileScanner: Sendable {
  /// The scanner of the format, or ``NothingScanned`` until the format is known.
  package var scanner: any Scanning = NothingScanned()
  private let limits: DecodingLimits
  private let rows: [any FormatCodec]
  private var isKnown = false
  /// The first bytes of the file, kept until the format is known.
  private var start: [UInt8] = []

  package init(limits: DecodingLimits) { self.init(limits: limits, rows: FormatTable.rows) }

  /// Creates a scanner.
  ///
  /// - Parameter rows: The formats to choose from.
  init(limits: DecodingLimits, rows: [any FormatCodec]) {
    (self.limits, self.rows) = (limits, rows)
  }

  /// Feeds the next bytes of the file.
  ///
  /// - Throws: `notAnImage` as soon as the bytes match no format's signature; the errors of ``Scanning/feed(_:)``.
  package mutating func feed(_ bytes: borrowing RawSpan) throws(AnimatedImageError) {
    guard bytes.byteCount > 0 else { return }
    if !isKnown {
      guard try recognise(bytes) else { return }
      let earlier = start
      start = []
      try scanner.feed(earlier.rawBytes)
    }
    try scanner.feed(bytes)
  }

  /// Returns whether the format is known after `bytes`. If the format is still unknown, `bytes` are added to ``start``.
  private mutating func recognise(_ bytes: borrowing RawSpan) throws(AnimatedImageError) -> Bool {
    let longest = rows.flatMap(\.signatures).map(\.count).max() ?? 0
    var found = start
    found.append(copying: bytes.extracting(first: min(longest - start.count, bytes.byteCount)))
    let candidates = rows.filter { $0.mayBegin(with: found) }
    guard let row = candidates.first else { throw FormatTable.noSignature }
    if candidates.count > 1, found.count < longest {
      start = found
      return false
    }
    scanner = row.makeScanner(limits)
    isKnown = true
    return true
  }

  /// Signals that there are no more bytes.
  package mutating func finish() throws(AnimatedImageError) {
    guard isKnown || !start.isEmpty else {
      throw AnimatedImageError(.truncated, "the file is empty", byteOffset: 0)
    }
    guard isKnown else {
      throw AnimatedImageError(
        .truncated, "the file has \(start.count) bytes, too few to determine its format",
        byteOffset: start.count)
    }
    try scanner.finish()
  }
}

/// The scanner of a file whose format is not known yet.
private struct NothingScanned: Scanning {
  let image = ScannedImage()
  let isAtEnd = false
  let hasEndMarker = false
  let isCanvasKnown = false
  let arrivingFrame: FrameControl? = nil

  mutating func feed(_ bytes: borrowing RawSpan) {}
  mutating func keepFrames(_ count: Int) {}
  mutating func finish() {}
}
