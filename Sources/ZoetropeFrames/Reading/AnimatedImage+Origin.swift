extension AnimatedImage: ImageOrigin {
  package func makeReader(
    for role: ReaderRole
  ) throws(AnimatedImageError) -> any FrameReading {
    FrameReader(role == .playing ? preparedForPlaying : self)
  }

  package func isAtHand(_ control: FrameControl) -> Bool { source.isAtHand(control.byteRange) }

  package var isUnchanged: Bool { source.isUnchanged }

  package func identity(
    in cache: any FrameCaching, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> ContentIdentity? {
    try cache.identity(of: self, isCancelled: isCancelled)
  }

  /// Returns the same image with a random-access state of its own, which is charged to `budget`.
  package func charged(to budget: MemoryBudget) -> AnimatedImage { detached(chargedTo: budget) }

  /// The number of bytes of memory that the opened image holds, apart from pixels.
  package var residentCost: Int {
    let metadata = metadata
    let texts = metadata.texts.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    let blocks = [metadata.iccProfile?.count, metadata.exif?.count, metadata.xmp?.utf8.count]
    return source.residentByteCount + texts + blocks.reduce(0) { $0 + ($1 ?? 0) }
      + metadata.applicationBlocks.count * MemoryLayout<AnimationMetadata.ApplicationBlock>.stride
      + damage.count * Self.damageCost
      + frames.count * (MemoryLayout<FrameControl>.stride + ReplayCosts.bytesPerFrame)
  }

  /// The estimated number of bytes that one damage entry takes, including its text.
  private static let damageCost = MemoryLayout<Damage>.stride + 64

  /// This image with its parallelism adjusted for playing: frames are decoded on one core, unless that may be too slow.
  ///
  /// A scheduler decodes ahead anyway. Decoding on several cores would take four more canvases and wake threads for
  /// every frame. All cores are used if playing decodes more than about 40 million pixels per second. That is a tenth
  /// of the throughput of one core for GIF and a third of it for APNG.
  private var preparedForPlaying: AnimatedImage {
    guard options.parallelism == 0, pixelRate < Self.lightPixelRate else { return self }
    var image = self
    image.options.parallelism = 1
    return image
  }
}

extension ImageOrigin {
  /// Whether decoding takes only a small part of the playing time, and a canvas takes little memory. False for images
  /// whose bytes are still arriving or are read by byte ranges.
  var isLightToPlay: Bool {
    arrivals == nil && !isFetched && pixelRate < Self.lightPixelRate
      && canvasSize.area <= Self.lightArea
  }

  fileprivate static var lightPixelRate: Double { 40_000_000 }
  private static var lightArea: Int { 1 << 20 }

  /// The number of pixels that are decoded per second of playing.
  fileprivate var pixelRate: Double {
    var area = 0.0
    var seconds = 0.0
    for frame in frames {
      area += Double(frame.rect.size.area)
      seconds += DelayPolicy.browser.shownDuration(of: frame.delay) / .seconds(1)
    }
    return area / seconds
  }
}
