import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

/// Converts the frames of a preview to bytes. The bytes of each frame are sent in one write, which leaves the position
/// and the attributes of the cursor unchanged.
struct PreviewCanvas {
  private(set) var target: PreviewTarget
  /// The cells on which pictures were drawn, or nil before the first frame.
  private(set) var area: CellRect?
  private var writer: FrameWriter?
  private var cache = DeltaCache()

  init(_ target: PreviewTarget) { self.target = target }

  /// Returns the bytes that show frame `index`, or an empty array if the picture does not change.
  ///
  /// Encoding stops early if a signal asks the preview to end.
  ///
  /// - Parameter changed: The region in which the bitmap may differ from the previous frame, or nil if it is unknown.
  mutating func bytes(showing bitmap: Bitmap, index: Int, changed: PixelRect?) -> [UInt8] {
    let picture = endingWithoutMemory(try bitmap.converted(to: .rgba8))
    // The frame is not a synchronized update, because the end of the update could also end an update of the other
    // program.
    var writer =
      writer ?? FrameWriter(encoder: target.encoder(for: picture.size), isSynchronized: false)
    writer.pen = PenState(foreground: .default, background: .default)
    var output: [UInt8] = []
    if let kept = cache.bytes(forFrame: index, showing: picture, writer: &writer) {
      output = kept
    } else {
      if writer.frame(
        picture, changed: changed, into: &output, while: { Signals.ending == nil })
      {
        cache.insert(output, forFrame: index, writer: writer)
      }
    }
    self.writer = writer
    area = writer.encoder.area
    return output.isEmpty ? [] : Self.open + output + Self.close
  }

  /// Saves the cursor with its attributes, and resets the attributes.
  private static let open = Array("\u{1B}7\u{1B}[m".utf8)
  /// Restores the cursor and the attributes that ``open`` saved.
  static let close = Array("\u{1B}8".utf8)

  /// Switches to another target. Returns the bytes that remove the picture from the previous target.
  mutating func move(to target: PreviewTarget) -> [UInt8] {
    let bytes = removal
    self.target = target
    (area, writer) = (nil, nil)
    cache.removeAll()
    return bytes
  }

  /// The bytes that remove the picture and change nothing else on the screen.
  var removal: [UInt8] { area.map { target.removal(from: $0) } ?? [] }
}
