import Zoetrope

/// A way of showing a frame: as the composited picture, as its stored pixels, or with its changed area outlined.
struct FrameView {
  /// Whether the frame's stored pixels are shown instead of the canvas.
  var isStored = false
  /// Whether the area that the frame changed is outlined.
  var isOutlined = false

  /// Whether the composited picture is shown without an outline.
  var isPlain: Bool { !isStored && !isOutlined }

  /// Returns the picture to show for frame `index` of `image`. `bitmap` is the composited picture, and `changed` is the
  /// area that the frame changed.
  ///
  /// If the stored pixels of the frame cannot be decoded, the composited picture is shown.
  func picture(
    _ bitmap: Bitmap, index: Int, of image: AnimatedImage, changed: PixelRect
  ) -> Bitmap {
    var result = endingWithoutMemory(try bitmap.converted(to: .rgba8))
    if isStored {
      let rect = image.frames[index].rect
      guard let stored = try? StoredFrameReader(image).frame(at: index) else { return result }
      result = Self.place(
        endingWithoutMemory(try stored.bitmap.converted(to: .rgba8)), at: rect, on: bitmap.size)
    }
    return isOutlined
      ? Self.outline(isStored ? image.frames[index].rect : changed, on: result) : result
  }

  /// Returns the note on `frame` for the status line, or nil in the plain view.
  func note(of frame: FrameControl) -> String? {
    guard !isPlain else { return nil }
    return "\(frame.rect) \(frame.disposal) \(frame.blend)"
  }

  private static func place(_ picture: Bitmap, at rect: PixelRect, on size: PixelSize) -> Bitmap {
    endingWithoutMemory(
      try Bitmap(size: size) { y, bytes in
        let row = y - rect.y
        guard row >= 0, row < picture.height else { return }
        let source = picture.pixels(row: row)
        for x in 0..<picture.width where (0..<size.width).contains(rect.x + x) {
          bytes.store(source[x], x: rect.x + x)
        }
      })
  }

  /// Returns `picture` with a magenta outline of `rect` that is wide enough to be visible.
  private static func outline(_ rect: PixelRect, on picture: Bitmap) -> Bitmap {
    let inside = rect.intersection(PixelRect(picture.size))
    let width = max(1, max(picture.width, picture.height) / 160)
    return endingWithoutMemory(
      try Bitmap(size: picture.size) { y, bytes in
        let source = picture.pixels(row: y)
        for x in 0..<picture.width { bytes.store(source[x], x: x) }
        guard y >= inside.y, y < inside.maxY else { return }
        let isEdge = y < inside.y + width || y >= inside.maxY - width
        for x in inside.x..<max(inside.x, inside.maxX)
        where isEdge || x < inside.x + width || x >= inside.maxX - width {
          bytes.store(RGBA(red: 255, green: 0, blue: 255, alpha: 255), x: x)
        }
      })
  }
}

extension MutableRawSpan {
  /// Stores a pixel at column `x` of a row in straight RGBA.
  fileprivate mutating func store(_ pixel: RGBA, x: Int) {
    storeBytes(of: pixel.red, toByteOffset: x * 4, as: UInt8.self)
    storeBytes(of: pixel.green, toByteOffset: x * 4 + 1, as: UInt8.self)
    storeBytes(of: pixel.blue, toByteOffset: x * 4 + 2, as: UInt8.self)
    storeBytes(of: pixel.alpha, toByteOffset: x * 4 + 3, as: UInt8.self)
  }
}
