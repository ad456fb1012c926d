package import Zoetrope

extension RandomFilm {
  /// The defects of this film after it is scaled or cropped, or gets fewer colours or fewer bytes, in random ways; empty
  /// if there are none.
  ///
  /// Both decoders must show the same pictures, for as long as the film shows its own. A pixel that does not change in
  /// the film does not change either, unless there is a tolerance. No limit is exceeded, and the number of threads makes
  /// no difference.
  package func problemsOfReducing(below: (Int) -> Int) throws(AnimatedImageError) -> [String] {
    guard let file = try fittingFile() else { return [] }
    let image = try AnimatedImage(bytes: file, options: DecodingOptions(parallelism: 1))
    let size = image.canvasSize
    var edits: [AnimationEdit] = []
    switch below(3) {
    case 0:
      let target = PixelSize(width: 1 + below(2 * size.width), height: 1 + below(2 * size.height))
      edits.append(.resize(TargetSize(target), fit: .stretch, linearLight: below(2) == 0))
    case 1:
      let (x, y) = (below(size.width), below(size.height))
      let (width, height) = (1 + below(size.width - x), 1 + below(size.height - y))
      edits.append(.crop(PixelRect(x: x, y: y, width: width, height: height)))
    default: break
    }
    let limit = below(3) == 0 ? nil : 2 + below(40)
    var settings = EditOptions(
      delayPolicy: .exact, shortDelays: .keep, format: below(3) == 0 ? .apng : .gif,
      colors: limit.map { .limited(to: $0) } ?? .automatic,
      dithering: Dithering.all[below(Dithering.all.count)],
      transparency: below(2) == 0 ? .threshold() : .matte(RGBA(red: 9, green: 99, blue: 199)),
      tolerance: below(3) == 0 ? below(201) : 0,
      effort: [.fast, .balanced, .small][below(3)], parallelism: 1)
    let bytes = try Self.write(image, edits, settings)
    var problems = try problems(of: bytes, image, edits, settings, colors: limit)
    if below(4) == 0 {
      settings.parallelism = 3
      if try Self.write(image, edits, settings) != bytes { problems.append("threads") }
    }
    guard below(4) == 0 else { return problems }
    let budget = ByteBudget(
      byteLimit: max(bytes.count * (1 + below(10)) / 10, 1), keepsSize: below(2) == 0,
      keepsFrameRate: true)
    do {
      let found = try image.fitted(edits, settings, to: budget, isCancelled: { false })
      if found.bytes.count > budget.byteLimit {
        problems.append("\(found.bytes.count) of \(budget.byteLimit) bytes")
      }
      problems += try self.problems(of: found.bytes, nil, edits, settings, colors: limit)
        .map { "budget: \($0)" }
    } catch {
      if error.code != .limitExceeded { throw error }
    }
    return problems
  }

  private static func write(
    _ image: AnimatedImage, _ edits: [AnimationEdit], _ settings: EditOptions
  ) throws(AnimatedImageError) -> [UInt8] {
    let sink = MemorySink()
    _ = try EditPlan(image, edits, settings).write(to: sink)
    return sink.bytes
  }

  /// - Parameter source: The animation whose unchanged pixels must not change; nil if they may.
  private func problems(
    of file: [UInt8], _ source: AnimatedImage?, _ edits: [AnimationEdit], _ settings: EditOptions,
    colors limit: Int?
  ) throws(AnimatedImageError) -> [String] {
    var problems: [String] = []
    var pictures: [[[UInt64]]] = []
    var time = ExactTime.zero
    for decoder in [PixelDecoder.fast, .reference] {
      let options = DecodingOptions(damage: .strict, decoder: decoder, parallelism: 1)
      let image = try AnimatedImage(bytes: file, options: options)
      pictures.append(try Self.pictures(image))
      time = image.frames.reduce(.zero) { $0 + ExactTime($1.delay) }
      if image.playCount != self.options.playCount { problems.append("\(image.playCount)") }
    }
    let shown = pictures[0]
    if shown != pictures[1] { problems.append("the decoders differ") }
    let error = time - frames.reduce(.zero) { $0 + ExactTime($1.delay) }
    if error < ExactTime(-1, 200) || ExactTime(1, 200) < error { problems.append("time \(error)") }
    if let limit, let first = shown.first {
      let colors = Set(settings.format == .apng ? shown.flatMap(\.self) : first)
      if colors.count > limit { problems.append("\(colors.count) colours instead of \(limit)") }
    }
    // Samples of 16 bits may change where those of 8 bits do not. With a tolerance, pixels may change within it.
    guard let source, source.frames.count == shown.count, source.header.bitDepth < 16,
      settings.tolerance == 0
    else { return problems }
    let wanted = try Self.pictures(try edited(source, edits))
    guard wanted.count == shown.count else { return problems }
    for place in shown.indices.dropFirst() {
      // If pixels become transparent, a frame may have to draw unchanged pixels again, with 255 colours for all.
      let vanish = zip(shown[place - 1], shown[place]).contains { $0 >> 48 > 0 && $1 >> 48 == 0 }
      if vanish, Set(shown[place - 1]).union(wanted[place]).count > 255 { continue }
      let flickers = shown[place].indices.contains {
        wanted[place][$0] == wanted[place - 1][$0] && shown[place][$0] != shown[place - 1][$0]
      }
      if flickers { problems.append("picture \(place) flickers") }
    }
    return problems
  }

  /// Returns `source` with `edits`, in all colours.
  private func edited(
    _ source: AnimatedImage, _ edits: [AnimationEdit]
  ) throws(AnimatedImageError) -> AnimatedImage {
    if edits.isEmpty { return source }
    let settings = EditOptions(
      delayPolicy: .exact, shortDelays: .keep, format: .apng, parallelism: 1)
    return try AnimatedImage(bytes: Self.write(source, edits, settings))
  }

  private static func pictures(_ image: AnimatedImage) throws(AnimatedImageError) -> [[UInt64]] {
    var pictures: [[UInt64]] = []
    let reader = FrameReader(image)
    while let frame = try reader.next() {
      pictures.append(pixels(frame.bitmap).map { $0 >> 48 == 0 ? 0 : $0 })
    }
    return pictures
  }
}
