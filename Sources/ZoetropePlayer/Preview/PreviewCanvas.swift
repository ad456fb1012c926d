import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

/// Turns the frames of a preview into bytes. Each frame is one write, which leaves the cursor's position
/// and attributes unchanged.
struct PreviewCanvas {
  private(set) var target: PreviewTarget
  /// The cells that were drawn to; nil before the first frame.
  private(set) var area: CellRect?
  private var writer: FrameWriter?
  private var cache = DeltaCache()

  init(_ target: PreviewTarget) { self.target = target }

  /// The bytes that show frame `index`; empty when nothing changes.
  ///
  /// `changed` is where it may differ from the frame before; nil when unknown. A signal that ends the preview
  /// ends encoding too.
  mutating func bytes(showing bitmap: Bitmap, index: Int, changed: PixelRect?) -> [UInt8] {
    let picture = endingWithoutMemory(try bitmap.converted(to: .rgba8))
    // No synchronized output: its end could end an update of the other program.
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

  /// Saves the cursor with its attributes, which are reset.
  private static let open = Array("\u{1B}7\u{1B}[m".utf8)
  /// Restores what ``open`` saved.
  static let close = Array("\u{1B}8".utf8)

  /// Switches to another target; returns the bytes that remove the picture from the old one.
  mutating func move(to target: PreviewTarget) -> [UInt8] {
    let bytes = removal
    self.target = target
    (area, writer) = (nil, nil)
    cache.removeAll()
    return bytes
  }

  /// The bytes that remove what was drawn, and nothing else.
  var removal: [UInt8] { area.map { target.removal(from: $0) } ?? [] }
}
