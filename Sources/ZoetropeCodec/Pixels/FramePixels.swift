/// The pixels of one decoded frame before compositing, in the layout its decoder finds cheapest.
///
/// A reusable scratch object with one owner at a time: a decoder fills it, the compositor reads it,
/// and it goes back to be filled again. Storage only grows.
package final class FramePixels: @unchecked Sendable {
  // Sendable: handed from one thread to the next under the lock of `DecodeAhead`, never accessed by
  // two at once; only that and `FrameReader`, which returns it, hand it on.

  /// The layout of the samples in ``storage``.
  package enum Layout: UInt8, Sendable {
    /// One palette index per pixel; see ``palette``.
    case indexed8
    case grey8, greyAlpha8, rgb8, rgba8
    /// 16 bits per sample, most significant byte first, as PNG stores them.
    case grey16, greyAlpha16, rgb16, rgba16
    /// Like the layouts without a key, but a pixel whose bytes equal the key is transparent. The
    /// key lies in ``palette``: its first four bytes in the first entry, lowest byte first, the
    /// others in the second.
    case keyedRGB8, keyedGrey16, keyedRGB16
  }

  /// The contents of the storage, and their position.
  ///
  /// A single value, because each access to a property of the class is checked for exclusivity: for frames of
  /// 24x24 pixels those checks took a twelfth of the time.
  package struct Content {
    /// The layout of the samples.
    package var layout = Layout.rgba8
    package var width = 0
    package var height = 0
    package var size: PixelSize { PixelSize(width: width, height: height) }
    package var bytesPerRow = 0
    /// Bytes from the start of the storage to the first pixel.
    package var offset = 0
    /// Whether the rows are in GIF's interlaced order: stored row `r` is shown at `GIFInterlace.row`.
    package var isInterlaced = false
    /// GIF: the index that leaves the canvas unchanged.
    package var transparentIndex: UInt8?
    /// Whether every palette entry except ``transparentIndex`` is opaque, as in GIF.
    package var hasBinaryAlpha = false
    /// Whether every pixel is known to be opaque.
    package var isOpaque = false
    /// Decoded pixels in stored order: `width * height` if the frame is complete.
    package var validPixels = 0
    /// Whether all pixels were decoded.
    package var isComplete: Bool { validPixels == width * height }
    /// Whether the frame is stored at its canvas position: as RGBA, in a block of the canvas's form.
    package var isInPlace = false
  }

  package var content = Content()
  /// For ``Layout/indexed8``: 256 colours as `RGBA.word`. Entries past the file's palette are
  /// opaque black. An entry with alpha 0 is transparent. For keyed layouts, the key.
  package var palette = [UInt32](repeating: 0xff00_0000, count: 256)
  package var damage: Damage?
  /// The samples.
  package private(set) var storage = PixelStorage(byteCount: 64)

  /// The memory layout for a frame that is to become the canvas; nil if the frame will be drawn.
  var inPlaceLayout: InPlaceLayout?
  /// The side of `DecodeAhead` that filled it last, whose core's cache holds it.
  package var side = DecodeSide.consumer
  /// Sizes are not rounded up past this, the size of a frame as large as the canvas.
  private let largestByteCount: Int

  package init() { largestByteCount = .max }

  /// Memory for frames, of which the largest usually takes `largestByteCount`.
  init(largestByteCount: Int) { self.largestByteCount = largestByteCount }

  /// Makes room for `byteCount` bytes; growing discards the contents.
  ///
  /// Sizes are rounded up, but not past that of a frame as large as the canvas.
  ///
  /// - Throws: `outOfMemory` if allocation fails.
  package func reserve(byteCount: Int) throws(AnimatedImageError) {
    guard storage.byteCount < byteCount else { return }
    let rounded = Self.rounded(byteCount, largest: largestByteCount)
    storage = try PixelStorage(asking: rounded, zeroed: false)
  }

  /// Sets the palette to `colors`, as far as they fit, and all other entries to `rest`.
  func setPalette(_ colors: Span<UInt32>, rest: UInt32) {
    var entries = takePalette()
    let count = min(colors.count, entries.count)
    for i in 0..<count { entries[i] = colors[i] }
    for i in count..<entries.count { entries[i] = rest }
    palette = entries
  }

  /// Moves the palette out, to be changed and put back: through the class's property, each of 256
  /// entries would cost an exclusivity check.
  func takePalette() -> [UInt32] {
    var entries: [UInt32] = []
    swap(&entries, &palette)
    return entries
  }

  /// The block size for `byteCount` bytes, if a frame of the whole canvas takes `largest`.
  ///
  /// Sizes of at least half of `largest` are rounded up to it. Otherwise frames of slowly changing sizes would
  /// leave a block of each size behind.
  static func rounded(_ byteCount: Int, largest: Int) -> Int {
    guard byteCount <= largest / 2 else { return max(byteCount, largest) }
    return min(PixelMemory.rounded(byteCount), largest)
  }

  /// Swaps in `other`, which has no other owner, or a placeholder.
  func exchangeStorage(for other: PixelStorage?) -> PixelStorage {
    defer {
      storage = other ?? PixelStorage(byteCount: 64)
      content.isInPlace = false
    }
    return storage
  }
}

/// Which thread decodes a frame: the one that composites, or one that works ahead of it.
package enum DecodeSide {
  case consumer, helper
}

extension FramePixels {
  /// Throws the frame's damage if `policy` rejects it.
  package func refuse(
    under policy: DamagePolicy, format: AnimationFormat
  ) throws(AnimatedImageError) {
    guard policy == .strict, let damage, damage.kind.isRefusedByStrict else { return }
    throw damage.error(format: format)
  }
}

extension FramePixels {
  /// Records as damage, if there is none yet, that an index lies past a palette of `count` colours.
  ///
  /// - Parameter bound: An upper bound that no index reaches, however damaged the data.
  func noteIndices(past count: Int, below bound: Int = 256, in control: FrameControl) {
    guard damage == nil, content.layout == .indexed8, count < bound,
      let row = firstRow(withIndexFrom: count)
    else { return }
    damage = Damage(
      .pixelIndex, "a pixel in row \(row) has an index past the \(count) colours",
      frameIndex: control.index, byteOffset: control.byteRange.lowerBound)
  }

  /// The first stored row with an index of at least `limit`.
  private func firstRow(withIndexFrom limit: Int) -> Int? {
    let (storage, content) = (storage, content)
    let (offset, pitch, width) = (content.offset, content.bytesPerRow, content.width)
    let rows = content.validPixels / max(width, 1)
    guard rows > 0, width > 0 else { return nil }
    // All rows at once, including the filter bytes between them. If those reach the limit too, check the rows
    // alone.
    let isBelow =
      IndexedBlitter.greatestIndex(
        in: storage.bytes.extracting(offset..<offset + (rows - 1) * pitch + width)) < limit
    if isBelow { return nil }
    return (0..<rows).first { row in
      let start = offset + row * pitch
      return IndexedBlitter.greatestIndex(in: storage.bytes.extracting(start..<start + width))
        >= limit
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
