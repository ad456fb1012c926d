/// The pixels of one decoded frame before compositing, in the layout that is cheapest for its decoder.
///
/// The object is reusable scratch memory with one owner at a time: a decoder fills it, the compositor reads it, and
/// then it is returned to be filled again. Reserving space never shrinks its storage.
package final class FramePixels: @unchecked Sendable {
  // Sendable: objects are passed from one thread to the next under the lock of `DecodeAhead`, and two threads never
  // access the same object at the same time. Only `DecodeAhead`, and `FrameReader`, which returns objects to it, pass
  // objects on.

  /// The layout of the samples in ``storage``.
  package enum Layout: UInt8, Sendable {
    /// One palette index per pixel; see ``palette``.
    case indexed8
    case grey8, greyAlpha8, rgb8, rgba8
    /// 16 bits per sample, most significant byte first, as PNG stores them.
    case grey16, greyAlpha16, rgb16, rgba16
    /// Like the layouts without a key, but a pixel whose bytes equal the key is transparent. The key is stored in
    /// ``palette``: its first four bytes in the first entry, lowest byte first, and its other bytes in the second
    /// entry.
    case keyedRGB8, keyedGrey16, keyedRGB16
  }

  /// The properties of the frame in the storage, and its position there.
  ///
  /// The properties are stored in a single value, because each access to a property of the class is checked for
  /// exclusivity. For frames of 24x24 pixels, these checks took a twelfth of the time.
  package struct Content {
    /// The layout of the samples.
    package var layout = Layout.rgba8
    package var width = 0
    package var height = 0
    package var size: PixelSize { PixelSize(width: width, height: height) }
    package var bytesPerRow = 0
    /// The number of bytes from the start of the storage to the first pixel.
    package var offset = 0
    /// Whether the rows are stored in the order of GIF interlacing. If so, `GIFInterlace.row` maps a stored row to its
    /// row in the picture.
    package var isInterlaced = false
    /// GIF: the index that leaves the canvas unchanged.
    package var transparentIndex: UInt8?
    /// Whether every palette entry except ``transparentIndex`` is opaque, as in GIF.
    package var hasBinaryAlpha = false
    /// Whether every pixel is known to be opaque.
    package var isOpaque = false
    /// The number of decoded pixels, in stored order. It is `width * height` if the frame is complete.
    package var validPixels = 0
    /// Whether all pixels were decoded.
    package var isComplete: Bool { validPixels == width * height }
    /// Whether the frame is stored as RGBA at its canvas position, in a block with the canvas's layout.
    package var isInPlace = false
  }

  package var content = Content()
  /// For ``Layout/indexed8``, 256 colours as `RGBA.word`. Entries past the file's palette are opaque black, and an
  /// entry with alpha 0 is transparent. For keyed layouts, the first two entries contain the key.
  package var palette = [UInt32](repeating: 0xff00_0000, count: 256)
  package var damage: Damage?
  /// The block of memory that contains the samples.
  package private(set) var storage = PixelStorage(byteCount: 64)

  /// The memory layout for a frame whose block will become the canvas, or nil if the frame will be drawn onto the
  /// canvas.
  var inPlaceLayout: InPlaceLayout?
  /// The number of bytes of a frame as large as the canvas. Smaller byte counts are not rounded up past this number.
  private let largestByteCount: Int

  package init() { largestByteCount = .max }

  /// Creates memory for frames, the largest of which usually takes `largestByteCount` bytes.
  init(largestByteCount: Int) { self.largestByteCount = largestByteCount }

  /// Makes room for `byteCount` bytes. If the storage has to grow, its contents are discarded.
  ///
  /// Byte counts are rounded up, but not past the byte count of a frame as large as the canvas.
  ///
  /// - Throws: `outOfMemory` if allocation fails.
  package func reserve(byteCount: Int) throws(AnimatedImageError) {
    guard storage.byteCount < byteCount else { return }
    let rounded = Self.rounded(byteCount, largest: largestByteCount)
    storage = try PixelStorage(asking: rounded, zeroed: false)
  }

  /// Sets the first entries of the palette to `colors`, at most 256, and all other entries to `rest`.
  func setPalette(_ colors: Span<UInt32>, rest: UInt32) {
    var entries = takePalette()
    let count = min(colors.count, entries.count)
    for i in 0..<count { entries[i] = colors[i] }
    for i in count..<entries.count { entries[i] = rest }
    palette = entries
  }

  /// Moves the palette out of the object and returns it, so that the caller can change it and put it back. If 256
  /// entries were changed through the property of the class, each change would cost an exclusivity check.
  func takePalette() -> [UInt32] {
    var entries: [UInt32] = []
    swap(&entries, &palette)
    return entries
  }

  /// Returns the block size for `byteCount` bytes, if a frame as large as the canvas takes `largest` bytes.
  ///
  /// Byte counts above half of `largest` are rounded up to `largest`. Otherwise frames of slowly changing sizes would
  /// leave a block of each size behind.
  static func rounded(_ byteCount: Int, largest: Int) -> Int {
    guard byteCount <= largest / 2 else { return max(byteCount, largest) }
    return min(PixelMemory.rounded(byteCount), largest)
  }

  /// Replaces the storage with `other`, which has no other owner, or with a placeholder if `other` is nil. Returns the
  /// old storage.
  func exchangeStorage(for other: PixelStorage?) -> PixelStorage {
    defer {
      storage = other ?? PixelStorage(byteCount: 64)
      content.isInPlace = false
    }
    return storage
  }
}

extension FramePixels {
  /// Throws the frame's damage as an error if `policy` rejects the damage.
  package func refuse(
    under policy: DamagePolicy, format: AnimationFormat
  ) throws(AnimatedImageError) {
    guard policy == .strict, let damage, damage.kind.isRefusedByStrict else { return }
    throw damage.error(format: format)
  }
}

extension FramePixels {
  /// Records damage if none has been recorded yet and a pixel has an index past a palette of `count` colours.
  ///
  /// - Parameter bound: A number above every possible index, even in damaged data.
  func noteIndices(past count: Int, below bound: Int = 256, in control: FrameControl) {
    guard damage == nil, content.layout == .indexed8, count < bound,
      let row = firstRow(withIndexFrom: count, except: control.transparentIndex)
    else { return }
    damage = Damage(
      .pixelIndex,
      "a pixel in row \(row) has an index past the end of the palette of \(count) colours",
      frameIndex: control.index, byteOffset: control.byteRange.lowerBound)
  }

  /// Returns the first stored row that contains an index of at least `limit` other than `transparent`, or nil.
  private func firstRow(withIndexFrom limit: Int, except transparent: UInt8?) -> Int? {
    let (storage, content) = (storage, content)
    let (offset, pitch, width) = (content.offset, content.bytesPerRow, content.width)
    let rows = content.validPixels / max(width, 1)
    guard rows > 0, width > 0 else { return nil }
    // Check all rows at once, including the filter bytes between them. Only if a byte reaches the limit, check the rows
    // one by one.
    let isBelow =
      IndexedBlitter.greatestIndex(
        in: storage.bytes.extracting(offset..<offset + (rows - 1) * pitch + width)) < limit
    if isBelow { return nil }
    return (0..<rows).first { row in
      let start = offset + row * pitch
      let bytes = storage.bytes.extracting(start..<start + width)
      guard IndexedBlitter.greatestIndex(in: bytes) >= limit else { return false }
      guard let transparent, transparent >= limit else { return true }
      return (0..<width).contains { bytes[$0] >= limit && bytes[$0] != transparent }
    }
  }
}

extension FramePixels.Layout {
  var bytesPerPixel: Int {
    switch self {
    case .indexed8, .grey8: 1
    case .greyAlpha8, .grey16, .keyedGrey16: 2
    case .rgb8, .keyedRGB8: 3
    case .rgba8, .greyAlpha16: 4
    case .rgb16, .keyedRGB16: 6
    case .rgba16: 8
    }
  }
}
