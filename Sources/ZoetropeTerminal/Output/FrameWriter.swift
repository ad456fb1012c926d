public import Zoetrope

/// Turns pictures into the one write that each of them costs.
///
/// Puts the marks of synchronized output round what changes, and keeps the pen between writes.
public struct FrameWriter: Sendable {
  /// Draws the pictures; replace it to draw in another way or place.
  public var encoder: any FrameEncoding
  /// Whether the marks of mode 2026 are written.
  public var isSynchronized: Bool
  /// What is known of the cursor and colours.
  public var pen = PenState.unknown

  /// A writer that draws with `encoder`.
  public init(encoder: any FrameEncoding, isSynchronized: Bool) {
    self.encoder = encoder
    self.isSynchronized = isSynchronized
  }

  /// Fills `output` with all bytes that show `bitmap`: empty when nothing changes.
  ///
  /// `status` may append more, such as a status line, inside the same marks; it gets the pen.
  public mutating func frame(
    _ bitmap: Bitmap, changed: PixelRect? = nil, into output: inout [UInt8],
    status: (inout PenState, inout [UInt8]) -> Void = { _, _ in }
  ) {
    output.removeAll(keepingCapacity: true)
    if isSynchronized { output.append(ascii: "\u{1B}[?2026h") }
    let start = output.count
    encoder.encode(bitmap, changed: changed, pen: &pen, into: &output)
    status(&pen, &output)
    if output.count == start {
      output.removeAll(keepingCapacity: true)
    } else if isSynchronized {
      output.append(ascii: "\u{1B}[?2026l")
    }
  }

  /// Forgets everything: the next frame is sent whole.
  ///
  /// For a resize, a resume, or when something else wrote to the terminal.
  public mutating func invalidate() {
    pen = .unknown
    encoder.invalidate()
  }
}
