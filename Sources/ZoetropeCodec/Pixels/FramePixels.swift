/// The pixels of one decoded frame, in the layout its decoder finds cheapest, before compositing.
///
/// A reusable scratch object with one owner at a time: a decoder fills it, the compositor reads it,
/// and it goes back to be filled again. Storage only grows.
package final class FramePixels: @unchecked Sendable {
  // Sendable: handed from one thread to the next through the lock of `DecodeAhead`, never touched by
  // two at once; that and `FrameReader`, which gives it back, are the only places that hand it on.

  /// How the samples of ``storage`` are to be read.
  package enum Layout: UInt8, Sendable {
    /// One palette index a pixel; see ``palette``.
    case indexed8
    case grey8, greyAlpha8, rgb8, rgba8
    /// 16 bits a sample, most significant byte first, as PNG stores them.
    case grey16, greyAlpha16, rgb16, rgba16
    /// As without a key; a pixel whose bytes are those of the key is transparent. The key lies in
    /// ``palette``: its first four bytes in the first entry, lowest byte first, the others in the second.
    case keyedRGB8, keyedGrey16, keyedRGB16
  }

  package var layout = Layout.rgba8
  package var width = 0
  package var height = 0
  /// Width and height.
  var size: PixelSize { PixelSize(width: width, height: height) }
  /// Bytes from one row to the next.
  package var bytesPerRow = 0
  /// Bytes from the start of the storage to the first pixel.
  package var offset = 0
  /// Whether the rows lie in GIF's interlaced order: stored row `r` is shown at `GIFInterlace.row`.
  package var isInterlaced = false
  /// For ``Layout/indexed8``: 256 colours as `RGBA.word`. Entries past the file's palette are opaque
  /// black. An entry with alpha 0 is transparent. For keyed layouts, the key.
  package var palette = [UInt32](repeating: 0xff00_0000, count: 256)
  /// GIF: the index that leaves the canvas as it is.
  package var transparentIndex: UInt8?
  /// Whether every palette entry but the one of ``transparentIndex`` is opaque, as in GIF.
  package var hasBinaryAlpha = false
  /// Whether every pixel is known to be opaque.
  package var isOpaque = false
  /// Pixels in stored order that could be decoded: `width * height` when all.
  package var validPixels = 0
  /// What was wrong with the frame, if anything.
  package var damage: Damage?
  /// The samples.
  package private(set) var storage = PixelStorage(byteCount: 64)

  /// How the frame is to lie in memory when it is to become the canvas; nil when it will be drawn.
  var inPlaceLayout: InPlaceLayout?
  /// Whether it does lie so: as RGBA, in a block of that form, where it stands on the canvas.
  package var isInPlace = false
  /// Which side of `DecodeAhead` filled it last, and so whose core's cache it lies in.
  package var side = DecodeSide.consumer
  /// Sizes are not rounded up past this: what a frame of the whole canvas takes.
  private let largestByteCount: Int

  package init() { largestByteCount = .max }

  /// Memory for frames of which the largest as a rule takes `largestByteCount`.
  init(largestByteCount: Int) { self.largestByteCount = largestByteCount }

  /// Makes room for `byteCount` bytes; what was there is lost when it has to grow.
  ///
  /// Sizes are rounded up, though not past that of a frame of the whole canvas.
  ///
  /// - Throws: `limitExceeded` when the system has no memory for it.
  package func reserve(byteCount: Int) throws(AnimatedImageError) {
    guard storage.byteCount < byteCount else { return }
    let rounded = Self.rounded(byteCount, largest: largestByteCount)
    storage = try PixelStorage(asking: rounded, zeroed: false)
  }

  /// Sets the palette to `colors`, as many as there is room for, and all other entries to `rest`.
  func setPalette(_ colors: Span<UInt32>, rest: UInt32) {
    var entries = takePalette()
    let count = min(colors.count, entries.count)
    for i in 0..<count { entries[i] = colors[i] }
    for i in count..<entries.count { entries[i] = rest }
    palette = entries
  }

  /// Takes the palette out to be changed and put back: through the class's property, each of 256 entries
  /// would cost a check of exclusive access.
  func takePalette() -> [UInt32] {
    var entries: [UInt32] = []
    swap(&entries, &palette)
    return entries
  }

  /// Bytes of a block that is to hold `byteCount`, where a frame of the whole canvas takes `largest`.
  ///
  /// From half of that on as many: frames of slowly changing sizes else left a block of each size behind.
  static func rounded(_ byteCount: Int, largest: Int) -> Int {
    guard byteCount <= largest / 2 else { return max(byteCount, largest) }
    return min(PixelMemory.rounded(byteCount), largest)
  }

  /// Swaps in `other`, which nobody else has, or a placeholder.
  func exchangeStorage(for other: PixelStorage?) -> PixelStorage {
    defer {
      storage = other ?? PixelStorage(byteCount: 64)
      isInPlace = false
    }
    return storage
  }
}

extension FramePixels {
  /// Throws what is wrong with the frame when `policy` refuses it.
  package func refuse(
    under policy: DamagePolicy, format: AnimationFormat
  ) throws(AnimatedImageError) {
    guard policy == .strict, let damage, damage.kind.isRefusedByStrict else { return }
    throw damage.error(format: format)
  }
}

extension FramePixels {
  /// Notes as damage, if there is none yet, that some index lies past a palette of `count` colours.
  ///
  /// - Parameter bound: No index reaches it, however the data is damaged.
  func noteIndices(past count: Int, below bound: Int = 256, in control: FrameControl) {
    guard damage == nil, layout == .indexed8, count < bound,
      let row = firstRow(withIndexFrom: count)
    else { return }
    damage = Damage(
      .pixelIndex, "a pixel in row \(row) has an index past the \(count) colours",
      frameIndex: control.index, byteOffset: control.byteRange.lowerBound)
  }

  /// The first stored row with an index of at least `limit`.
  private func firstRow(withIndexFrom limit: Int) -> Int? {
    let rows = validPixels / max(width, 1)
    guard rows > 0, width > 0 else { return nil }
    let (storage, offset, pitch, width) = (storage, offset, bytesPerRow, width)
    // All rows at once, with the filter bytes between them: where those reach the limit as well, the
    // rows alone decide.
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
  /// Bytes that one pixel takes.
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
