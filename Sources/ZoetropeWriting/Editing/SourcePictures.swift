/// Provides the composited frames of an image, in any order, and the canvases on which frames are drawn.
///
/// An object has one owner at a time. It keeps the last few pictures.
final class SourcePictures {
  let image: AnimatedImage
  private let reader: SeekingReader
  /// Polled while pictures are decoded and compared.
  let isCancelled: @Sendable () -> Bool
  private var kept: [CompositedFrame] = []
  private static let keptCount = 3
  /// For each frame, whether the canvas before it is known to be transparent. The last element describes the canvas
  /// after the last frame.
  let isClear: [Bool]
  /// For each frame, the index of the last frame before it that changes the canvas permanently, or -1 if none does. The
  /// last element refers to the canvas after the last frame.
  private let changer: [Int]
  /// The damage found while decoding frames, by frame.
  private(set) var damage: [Int: Damage] = [:]

  init(_ image: AnimatedImage, isCancelled: @escaping @Sendable () -> Bool) {
    let image = image.decoded(keeping16Bit: true)
    self.image = image
    self.isCancelled = isCancelled
    reader = SeekingReader(image)
    let canvas = PixelRect(image.canvasSize)
    var isClear = [true]
    isClear.reserveCapacity(image.frames.count + 1)
    var changer = [-1]
    var isStillClear = true
    for frame in image.frames {
      switch frame.disposal {
      case .keep: isStillClear = isStillClear && frame.rect.intersection(canvas).isEmpty
      case .background: isStillClear = isStillClear || frame.rect.contains(canvas)
      case .previous: break
      }
      isClear.append(isStillClear)
      // A frame with the disposal *previous* leaves the canvas as it was before. The canvas before the first frame is
      // transparent.
      changer.append(frame.disposal == .previous ? changer[frame.index] : frame.index)
    }
    self.isClear = isClear
    self.changer = changer
  }

  /// Returns the composited frame `index`.
  func composite(_ index: Int) throws(AnimatedImageError) -> Bitmap { try frame(index).bitmap }

  /// Returns whether all pixels of frame `index` could be decoded.
  func isIntact(_ index: Int) throws(AnimatedImageError) -> Bool {
    try frame(index).damage == nil && damage[index] == nil
  }

  private func frame(_ index: Int) throws(AnimatedImageError) -> CompositedFrame {
    if let frame = kept.last(where: { $0.index == index }) { return frame }
    // Free a frame first. Otherwise the reader might have to copy the canvas that it shares with that frame.
    if kept.count == Self.keptCount { kept.removeFirst() }
    let frame = try reader.frame(at: index, isCancelled: isCancelled)
    if isCancelled() {
      throw AnimatedImageError(.cancelled, "stopped between frames", format: image.format)
    }
    if let found = frame.damage, damage.count < 1000 { damage[index] = found }
    kept.append(frame)
    return frame
  }

  /// Returns the canvas on which frame `index` is drawn. If `index` is the number of frames, returns the canvas that
  /// the last frame leaves.
  func canvas(before index: Int) throws(AnimatedImageError) -> Bitmap {
    guard !isClear[index], changer[index] >= 0 else { return try clearCanvas() }
    let last = image.frames[changer[index]]
    let picture = try composite(last.index)
    if last.disposal == .keep { return picture }
    return try picture.cleared(in: last.rect, isCancelled: isCancelled)
  }

  private func clearCanvas() throws(AnimatedImageError) -> Bitmap {
    try PixelBuffer(asking: image.canvasSize, format: image.options.canvasFormat).finish()
  }
}

extension Bitmap {
  /// Returns the part of the picture in `rect`, which must lie inside the picture.
  ///
  /// - Throws: `outOfMemory` if allocation fails; `cancelled` once `isCancelled` returns true.
  package func cropped(
    to rect: PixelRect, isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) -> Bitmap {
    guard rect != PixelRect(size) else { return self }
    var buffer = try PixelBuffer(asking: rect.size, format: format)
    let (stride, pixel) = (buffer.bytesPerRow, format.bytesPerPixel)
    for y in 0..<rect.height {
      try rect.poll(row: rect.y + y, isCancelled)
      let source = row(rect.y + y).extracting(rect.x * pixel..<rect.maxX * pixel)
      var bytes = buffer.mutableBytes
      for place in Swift.stride(from: 0, to: rect.width * pixel, by: 4) {
        bytes.storeBytes(
          of: source.load(UInt32.self, at: place), toByteOffset: y * stride + place, as: UInt32.self
        )
      }
    }
    return buffer.finish()
  }

  /// Returns whether every pixel in `rect` is transparent black.
  func isClear(in rect: PixelRect) -> Bool {
    let pixel = format.bytesPerPixel
    for y in rect.y..<rect.maxY {
      let row = row(y)
      for place in stride(from: rect.x * pixel, to: rect.maxX * pixel, by: 4)
      where row.load(UInt32.self, at: place) != 0 {
        return false
      }
    }
    return true
  }
}

extension AnimatedImage {
  /// Returns the image for decoding pictures that will be encoded. Pictures have 16 bits per sample only if the file has
  /// them and they are to be kept.
  func decoded(keeping16Bit keeps16Bit: Bool) -> AnimatedImage {
    var image = self
    image.options.keeps16Bit = keeps16Bit && header.isDeep
    // A frame that was decoded during opening may have another depth.
    image.state = ReadingState()
    return image
  }
}
