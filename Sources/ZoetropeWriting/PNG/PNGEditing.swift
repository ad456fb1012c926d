/// Copies the frames of an APNG or a still PNG, and encodes those of an APNG again.
struct PNGEditing: FormatEditing {
  var formats: [AnimationFormat] { [.apng, .png] }

  func copying(_ image: AnimatedImage) throws(AnimatedImageError) -> any FrameCopying {
    try PNGStructureMap(image)
  }

  func extensionByteCount(of image: AnimatedImage) throws(AnimatedImageError) -> Int {
    try PNGStructureMap(image).otherByteCount
  }

  func hasOtherExtensions(_ image: AnimatedImage) throws(AnimatedImageError) -> Bool {
    try extensionByteCount(of: image) > 0
  }

  func storesTrueColor(_ header: ImageHeader) -> Bool { [2, 6].contains(header.colorType) }

  func optimizingWays(
    _ image: AnimatedImage, _ options: OptimizingOptions,
    _ isCancelled: @escaping @Sendable () -> Bool
  ) throws(AnimatedImageError) -> (ways: [OptimizingWay], loss: Damage?) {
    if let loss = try firstLoss(of: image, isCancelled) { return ([], loss) }
    // Decoders that blend with 8 bits would show other pictures if the result of blending with 16 bits were stored.
    let isDeep = image.header.isDeep
    if isDeep, image.frames.dropFirst().contains(where: { $0.blend == .over }) { return ([], nil) }
    var image = image
    image.options.keeps16Bit = isDeep
    var writing = options.writerOptions
    writing.format = .apng
    writing.playCount = image.playCount
    writing.identicalFrames = .keep
    var droppedByteCount = 0
    if !options.stripsMetadata {
      writing.metadata = image.metadata
      let found = try PNGStructureMap(image).carried(from: image.source)
      writing.carried = found.parts
      writing.carried.header = image.header
      if found.hasTexts {
        writing.metadata?.texts = []
        writing.metadata?.xmp = nil
      }
      droppedByteCount = found.droppedByteCount
    }
    let isCut = !options.stripsMetadata && image.damage.contains { $0.kind == .metadataLimit }
    writing = try image.completed(writing, isCancelled)
    let tolerances = options.tolerance > 0 ? [options.tolerance, 0] : [0]
    let ways = tolerances.map { [image, writing, droppedByteCount] (tolerance) -> OptimizingWay in
      var options = writing
      options.tolerance = tolerance
      return OptimizingWay(isExact: tolerance == 0, isFallback: false) {
        [options] (sink, progress) throws(AnimatedImageError) in
        _ = try image.reencode(
          to: sink, options: options, isCancelled: isCancelled, progress: progress)
        // The encoder chose how pixels are stored. IHDR says how.
        let bytes = sink.bytes
        let lost = droppedByteCount + options.carried.lostByteCount(bytes[25], Int(bytes[24]))
        return lost > 0 || isCut ? lost : nil
      }
    }
    return (ways, nil)
  }

  /// Returns the first damage that costs a frame or the static image pixels, or nil if there is none.
  private func firstLoss(
    of image: AnimatedImage, _ isCancelled: @Sendable () -> Bool
  ) throws(AnimatedImageError) -> Damage? {
    let reader = FrameReader(image)
    for index in image.frames.indices {
      if let damage = try reader.frame(at: index, isCancelled: isCancelled).damage,
        !damage.kind.isTolerated
      {
        return damage
      }
    }
    return try image.staticImageLoss()
  }
}
