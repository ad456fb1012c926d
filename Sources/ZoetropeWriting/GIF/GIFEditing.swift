/// Copies the frames of a GIF, and encodes them again in several ways to find the shortest.
struct GIFEditing: FormatEditing {
  var formats: [AnimationFormat] { [.gif] }

  func copying(_ image: AnimatedImage) throws(AnimatedImageError) -> any FrameCopying {
    try GIFStructureMap(image)
  }

  func extensionByteCount(of image: AnimatedImage) throws(AnimatedImageError) -> Int {
    try GIFStructureMap(image).extras.joined().reduce(0) { $0 + $1.count }
  }

  func hasOtherExtensions(_ image: AnimatedImage) throws(AnimatedImageError) -> Bool {
    try GIFStructureMap(image).hasOthers
  }

  func pixelAspect(of image: AnimatedImage) throws(AnimatedImageError) -> UInt8 {
    var buffer = ReadBuffer()
    return try image.source.copy(12..<13, &buffer)[0]
  }

  func optimizingWays(
    _ image: AnimatedImage, _ options: OptimizingOptions,
    _ isCancelled: @escaping @Sendable () -> Bool
  ) throws(AnimatedImageError) -> (ways: [OptimizingWay], loss: Damage?) {
    let recoding = try GIFRecoding(image, options, isCancelled)
    if let loss = recoding.loss { return ([], loss) }
    let ways = recoding.ways(effort: options.effort).map { way in
      OptimizingWay(isExact: !way.usesTolerance, isFallback: way.isFallback) {
        (sink, progress) throws(AnimatedImageError) in
        try recoding.write(way, to: sink, progress)
        return nil
      }
    }
    return (ways, nil)
  }
}
