import Zoetrope
import ZoetropeTerminal

/// A picture to draw.
struct Picture: Sendable {
  var bitmap: Bitmap
  /// The index of the frame that the picture shows.
  var index: Int
  /// The region that the frame changed.
  var dirtyRect: PixelRect
  /// The region that may differ from the picture drawn before, or nil if it is unknown.
  var changed: PixelRect?
}

/// Converts pictures to the bytes that draw them on a ``Stage``. A painter writes nothing itself.
///
/// After ``clear(_:)`` or ``removePicture()``, the next picture is sent whole by a new encoder, at the place that the
/// stage then determines.
struct Painter {
  /// The first of the two ids that kitty images use. See ``newImageID()``.
  private var imageID = Self.newImageID()
  private var writer: FrameWriter?
  private var cache = DeltaCache()

  /// Returns a random even id.
  ///
  /// The id is random because an inline picture would be replaced by a later picture with the same id, even one from
  /// another run or another program. Inside tmux, an id has 24 bits.
  private static func newImageID() -> Int { Int.random(in: 0x8000...0x7F_FFFF) * 2 }

  /// The two ids that kitty images use.
  var imageIDs: [Int] { [imageID, imageID + 1] }

  /// Returns the bytes that draw the parts of `picture` that changed since the previous picture.
  ///
  /// Returns nil if encoding was cancelled. While a large picture is encoded, `isWanted` is called repeatedly, and
  /// encoding is cancelled once it returns false.
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
    // Only pictures in the plain view are cached, because the keys of the cache do not distinguish views.
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

  /// Returns the bytes that remove the picture and erase the screen. For an inline picture, they erase only the first
  /// row of the picture and all rows below it.
  mutating func clear(_ stage: Stage) -> [UInt8] {
    let row = stage.ownsScreen ? 1 : stage.room.row + 1
    return removePicture() + Array("\u{1B}[m\u{1B}[\(row)H\u{1B}[J".utf8)
  }

  /// Returns the bytes that remove the picture without erasing its cells.
  mutating func removePicture() -> [UInt8] {
    var output: [UInt8] = []
    if var writer {
      writer.encoder.remove(pen: &writer.pen, into: &output)
      self.writer = nil
    }
    cache.removeAll()
    return output
  }

  /// Leaves the picture on the screen. The next picture gets new ids, so that it does not replace this one.
  mutating func leavePicture() {
    writer = nil
    cache.removeAll()
    imageID = Self.newImageID()
  }
}
