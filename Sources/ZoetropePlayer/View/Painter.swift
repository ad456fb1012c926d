import Zoetrope
import ZoetropeTerminal

/// A picture to draw.
struct Picture: Sendable {
  var bitmap: Bitmap
  /// The frame that it shows.
  var index: Int
  /// What the frame changed.
  var dirtyRect: PixelRect
  /// Where it may differ from the picture drawn before; nil when unknown.
  var changed: PixelRect?
}

/// Draws pictures on a ``Stage``: makes the bytes, and writes nothing itself.
///
/// After ``clear(_:)`` or ``removePicture()`` a new encoder sends the next picture whole, where the
/// stage then places it.
struct Painter {
  /// The first of the two ids of kitty's images; see ``newImageID()``.
  private var imageID = Self.newImageID()
  private var writer: FrameWriter?
  private var cache = DeltaCache()

  /// A random even id.
  ///
  /// An inline picture is replaced by the next one with the same id, even by another run or another
  /// program. Inside tmux ids have 24 bits.
  private static func newImageID() -> Int { Int.random(in: 0x8000...0x7F_FFFF) * 2 }

  /// The ids of kitty's images.
  var imageIDs: [Int] { [imageID, imageID + 1] }

  /// The bytes that draw `picture`: only what changed since the previous one.
  ///
  /// Nil once `isWanted` returns false, which is called while a large picture is encoded.
  mutating func draw(
    _ picture: Picture, on stage: Stage, while isWanted: () -> Bool = { true }
  ) -> [UInt8]? {
    let bitmap = endingWithoutMemory(try picture.bitmap.converted(to: .rgba8))
    var writer =
      self.writer
      ?? FrameWriter(
        encoder: encoder(for: bitmap.size, on: stage),
        isSynchronized: stage.capabilities.hasSynchronizedOutput)
    defer { self.writer = writer }
    var output: [UInt8] = []
    // The cache's keys do not cover anything drawn over a picture.
    guard stage.view.isPlain else {
      cache.leave()
      let isWhole = writer.frame(bitmap, changed: nil, into: &output, while: isWanted)
      return isWhole ? output : nil
    }
    if let kept = cache.bytes(forFrame: picture.index, showing: bitmap, writer: &writer) {
      return kept
    }
    guard writer.frame(bitmap, changed: picture.changed, into: &output, while: isWanted) else {
      return nil
    }
    cache.insert(output, forFrame: picture.index, writer: writer)
    return output
  }

  private func encoder(for size: PixelSize, on stage: Stage) -> any FrameEncoding {
    let (layout, filter) = stage.placement(of: size)
    return stage.mode.encoder(
      layout: layout, screen: stage.screen, pictureSize: size, capabilities: stage.capabilities,
      imageID: imageID, passthrough: stage.passthrough,
      options: stage.encodingOptions(filter: filter))
  }

  /// The bytes that remove the picture and erase its cells.
  mutating func clear(_ stage: Stage) -> [UInt8] {
    let row = stage.ownsScreen ? 1 : stage.room.row + 1
    return removePicture() + Array("\u{1B}[m\u{1B}[\(row)H\u{1B}[J".utf8)
  }

  /// The bytes that remove the picture and erase no cells.
  mutating func removePicture() -> [UInt8] {
    var output: [UInt8] = []
    if var writer {
      writer.encoder.remove(pen: &writer.pen, into: &output)
      self.writer = nil
    }
    cache.removeAll()
    return output
  }

  /// Leaves the picture in place; the next one gets new ids.
  mutating func leavePicture() {
    writer = nil
    cache.removeAll()
    imageID = Self.newImageID()
  }
}
