/// Encodes a GIF again in several ways. The caller keeps the shortest file.
struct GIFRecoding {
  private let image: AnimatedImage
  private let options: OptimizingOptions
  private let isCancelled: @Sendable () -> Bool
  private let extensions: [UInt8]
  /// The index of the background colour, as the source stores it.
  private let backgroundIndex: UInt8
  /// The shape of a pixel, as the source stores it.
  private let pixelAspect: UInt8
  /// A global table of the colours of all changed pixels, or nil if there are too many. If the table is not complete,
  /// it has the colours of some frames only.
  private let colors: (table: [UInt32], isComplete: Bool)?
  /// The first damage that costs a frame pixels, or nil if there is none. A file with such damage must not be written.
  let loss: Damage?

  /// One way to write the file.
  struct Way: Hashable {
    /// Whether the global table is that of the source, so that frames can be copied. Otherwise the global table has
    /// only the colours in use.
    var keepsTable: Bool
    /// Whether frames keep both their disposals and the canvases on which they are drawn. If not, a ``FramePlacer``
    /// chooses the disposals.
    var keepsCanvases: Bool
    /// Whether this way is tried only if no earlier way made the file smaller without loss.
    var isFallback = false
    /// The effort, or nil for that of the options.
    var effort: EncodingEffort?
    /// Whether pictures may change within the tolerance of the options.
    var usesTolerance = false
  }

  init(
    _ image: AnimatedImage, _ options: OptimizingOptions,
    _ isCancelled: @escaping @Sendable () -> Bool
  ) throws(AnimatedImageError) {
    (self.image, self.options, self.isCancelled) = (image, options, isCancelled)
    var extensions: [UInt8] = []
    var buffer = ReadBuffer()
    let screen = try image.source.copy(11..<13, &buffer)
    (backgroundIndex, pixelAspect) = (screen[0], screen[1])
    if !options.stripsMetadata {
      for range in try GIFStructureMap(image).extras.joined() {
        extensions += try image.source.copy(range, &buffer)
      }
    }
    self.extensions = extensions
    (colors, loss) = try Self.colors(of: image, partial: options.effort == .small, isCancelled)
  }

  /// Returns the ways to try, in order.
  func ways(effort: EncodingEffort) -> [Way] {
    let lossless = losslessWays(effort: effort)
    guard options.tolerance > 0 else { return lossless }
    // The most promising ways come first, because an attempt is given up once its file is longer than the best one.
    var lossy = lossless.filter { !$0.keepsCanvases && $0.effort == nil }
    for place in lossy.indices { lossy[place].usesTolerance = true }
    return lossy + lossless
  }

  private func losslessWays(effort: EncodingEffort) -> [Way] {
    let keepsAll = image.frames.dropLast().allSatisfy { $0.disposal == .keep }
    let old = image.header.palette.count
    let new = colors.map { padded($0.table).count }
    // One table for all frames replaces their local tables.
    let hasLocals = image.frames.dropFirst().contains { $0.palette == .local }
    let isShorter =
      colors?.isComplete == true && new.map { $0 < old || old == 0 || hasLocals } ?? false
    let first = Way(keepsTable: !isShorter, keepsCanvases: false)
    guard effort.kind == .small else {
      let copies = Way(keepsTable: true, keepsCanvases: true, isFallback: true)
      return keepsAll && !isShorter ? [first] : [first, copies]
    }
    var ways: [Way] = []
    for keepsTable in [false, true] where keepsTable || new != nil {
      ways.append(Way(keepsTable: keepsTable, keepsCanvases: false))
      if !keepsAll { ways.append(Way(keepsTable: keepsTable, keepsCanvases: true)) }
    }
    // The shortest encoding of each frame does not always give the shortest file, so also try what `balanced` chooses.
    ways.append(Way(keepsTable: first.keepsTable, keepsCanvases: false, effort: .balanced))
    return ways
  }

  /// Returns `colors` with as many more as the format requires, and at least one more for a transparent index if some
  /// frames are cleared.
  private func padded(_ colors: [UInt32]) -> [UInt32] {
    let hasCleared = image.frames.dropLast().contains { $0.disposal != .keep }
    let least = min(colors.count + (hasCleared ? 1 : 0), 256)
    let count = max(2, 1 << (Int.bitWidth - (least - 1).leadingZeroBitCount))
    return colors + [UInt32](repeating: RGBA.black.word, count: count - colors.count)
  }

  /// Returns a table of the colours of all frames. If there are more than 256 colours, returns nil or, if `partial` is
  /// true, a table without the new colours of each frame that does not fit. Returns nil in any case if the changed
  /// pixels of a single frame have more than 256 colours. Also returns the first damage that costs pixels.
  ///
  /// The colours are in the order of ``ColorSets/order(isCancelled:)``.
  private static func colors(
    of image: AnimatedImage, partial: Bool, _ isCancelled: @Sendable () -> Bool
  ) throws(AnimatedImageError) -> ((table: [UInt32], isComplete: Bool)?, loss: Damage?) {
    let reader = FrameReader(image.decoded(keeping16Bit: false))
    var changed = FrameColors()
    var sets: ColorSets? = ColorSets()
    var isComplete = true
    var last: Bitmap?
    for index in image.frames.indices {
      let frame = try reader.frame(at: index, isCancelled: isCancelled)
      if let damage = frame.damage, !damage.kind.isTolerated { return (nil, damage) }
      // Without a table, the other frames are decoded for their damage alone.
      guard sets != nil else { continue }
      let picture = frame.bitmap
      let area = index == 0 ? PixelRect(picture.size) : frame.dirtyRect
      let found = try changed.required(
        by: FrameWork(picture: picture, base: last, rect: area), isCancelled: isCancelled)
      last = picture
      if let found, sets?.add(found, area: area.size.area) == true { continue }
      isComplete = false
      if found == nil || !partial { sets = nil }
    }
    guard let table = try sets?.order(isCancelled: isCancelled), !table.isEmpty else {
      return (nil, nil)
    }
    return ((table, isComplete), nil)
  }

  // MARK: Writing

  /// Writes the file in the given way.
  func write(
    _ way: Way, to sink: LimitedSink, _ progress: (WritingProgress) -> Void
  ) throws(AnimatedImageError) {
    let table = way.keepsTable ? image.header.palette : colors.map { padded($0.table) } ?? []
    let effort = way.effort ?? options.effort
    let queue = EncodingQueue(
      AnimationOutput(sink, knownCount: image.frames.count), isCancelled: isCancelled)
    do throws(AnimatedImageError) {
      guard let format = AnimationFormat.gif.writable else { return }
      var request = AnimationRequest(
        canvasSize: image.canvasSize, isDeep: false, playCount: image.playCount, metadata: nil,
        effort: effort, survey: nil, hasPoster: false)
      request.colorTable = table
      request.carried.head = extensions
      request.carried.pixelAspect = pixelAspect
      if way.keepsTable, Int(backgroundIndex) < table.count {
        request.carried.backgroundIndex = backgroundIndex
      }
      request.omitsEmptyControls = true
      let encoder = try format.makeEncoder(request)
      let share = options.writerOptions.share(
        canvas: PixelFormat.rgba8.cost(of: image.canvasSize), working: encoder.workingByteCount)
      queue.begin(encoder, threads: share.threads, window: share.window)
      let pictures = SourcePictures(image, isCancelled: isCancelled)
      var submitted = 0
      func report() {
        let (frames, bytes) = queue.progress
        progress(
          WritingProgress(
            frameCount: frames, totalFrameCount: image.frames.count, byteCount: bytes))
      }
      func submit(_ placed: FramePlacer.Placed) throws(AnimatedImageError) {
        if isCancelled() { throw EncodingQueue.cancelled }
        var work = placed.work
        work.source = try source(of: placed, submitted, pictures, way)
        try queue.submit(
          EncodingQueue.Job(
            work, delay: image.frames[submitted].delay, disposal: placed.disposal,
            index: submitted))
        submitted += 1
        report()
      }
      if way.keepsCanvases {
        for index in image.frames.indices { try submit(try kept(index, pictures)) }
      } else {
        try place(encoder, effort, way.usesTolerance ? options.tolerance : 0, pictures, submit)
      }
      _ = try queue.finish()
      report()
    } catch {
      queue.fail(error)
      throw error
    }
  }

  /// Submits all frames, with the rectangles and disposals that a ``FramePlacer`` chooses.
  private func place(
    _ encoder: any AnimationEncoding, _ effort: EncodingEffort, _ tolerance: Int,
    _ pictures: SourcePictures,
    _ submit: (FramePlacer.Placed) throws(AnimatedImageError) -> Void
  ) throws(AnimatedImageError) {
    let trial = effort == .small ? encoder.makeFrameEncoder(effort: .balanced) : nil
    var placer = FramePlacer(
      framesCanClear: false, triesBackground: true, isCancelled: isCancelled)
    var tolerance = PictureTolerance(tolerance, format: .gif)
    for index in image.frames.indices {
      var picture = try pictures.composite(index)
      if let kept = try tolerance?.apply(
        picture, over: placer, changed: nil, isCancelled: isCancelled)
      {
        picture = kept.picture
      }
      let changes = try placer.changes(to: picture, within: nil)
      let placed = try placer.add(picture, changes: changes) {
        (work) throws(AnimatedImageError) in
        guard let trial else { return try work.estimatedCost(isCancelled: isCancelled) }
        return try trial.encode(work, isCancelled: isCancelled).bytes.count
      }
      if let placed { try submit(index == 1 ? first(placed) : placed) }
    }
    let loops = image.frames.last?.disposal == .background && image.frames.count > 1
    let next = loops ? try pictures.composite(0) : nil
    guard let last = try placer.finish(loopingTo: next) else { return }
    if let next, last.disposal != .background,
      try !last.work.picture.pixelsLost(to: next, isCancelled: isCancelled).isEmpty
    {
      // The source's disposal matters to players that do not clear the canvas between plays.
      throw GIFFrameEncoder.tooManyColors
    }
    try submit(image.frames.count == 1 ? first(last) : last)
  }

  /// Returns the first frame with its final rectangle. The rectangle is the whole canvas, unless the source's first
  /// frame does not fill the canvas.
  private func first(_ placed: FramePlacer.Placed) -> FramePlacer.Placed {
    let canvas = PixelRect(image.canvasSize)
    guard !image.frames[0].rect.contains(canvas), placed.disposal == .keep else { return placed }
    var placed = placed
    placed.work.rect = image.frames[0].rect.intersection(canvas)
    if placed.work.rect.isEmpty { placed.work.rect = PixelRect(x: 0, y: 0, width: 1, height: 1) }
    return placed
  }

  /// Returns frame `index` of the source with its disposal and the canvas on which it is drawn.
  private func kept(
    _ index: Int, _ pictures: SourcePictures
  ) throws(AnimatedImageError) -> FramePlacer.Placed {
    let frame = image.frames[index]
    let canvas = PixelRect(image.canvasSize)
    let area = frame.rect.intersection(canvas)
    let picture = try pictures.composite(index)
    let base = index == 0 ? nil : try pictures.canvas(before: index)
    var rect = canvas
    if let base {
      rect = try PixelDifference.bounds(from: base, to: picture, isCancelled: isCancelled)
    }
    if index == 0, !area.contains(canvas) { rect = area }
    if frame.disposal == .background {
      let cleared = try picture.cleared(in: area, isCancelled: isCancelled)
      rect = rect.union(try picture.pixelsLost(to: cleared, isCancelled: isCancelled))
    }
    let isEmpty = rect.isEmpty
    return FramePlacer.Placed(
      work: FrameWork(
        picture: picture, base: base,
        rect: isEmpty ? PixelRect(x: 0, y: 0, width: 1, height: 1) : rect),
      disposal: isEmpty ? .keep : frame.disposal)
  }

  /// Returns the bytes of a frame in the source, or nil if they would draw a different picture in the output.
  private func source(
    of placed: FramePlacer.Placed, _ index: Int, _ pictures: SourcePictures, _ way: Way
  ) throws(AnimatedImageError) -> SourceFrame? {
    let frame = image.frames[index]
    // Without a transparent index, some players would clear the rectangle to a colour.
    guard placed.disposal != .background || frame.transparentIndex != nil,
      PixelRect(image.canvasSize).contains(frame.rect), !frame.rect.isEmpty,
      frame.palette != .global || way.keepsTable, frame.palette != .none,
      way.keepsCanvases
        ? placed.disposal == frame.disposal
        : placed.disposal == .keep || placed.work.rect == frame.rect,
      try pictures.isIntact(index)
    else { return nil }
    if !way.keepsCanvases, let base = placed.work.base {
      let canvas = try pictures.canvas(before: index)
      guard
        try PixelDifference.bounds(from: base, to: canvas, isCancelled: isCancelled).isEmpty
      else { return nil }
    }
    if way.usesTolerance {
      let composite = try pictures.composite(index)
      let changed = try PixelDifference.bounds(
        from: placed.work.picture, to: composite, isCancelled: isCancelled)
      guard changed.isEmpty else { return nil }
    }
    var buffer = ReadBuffer()
    let bytes = try image.source.copy(frame.byteRange, &buffer)
    return SourceFrame(bytes: bytes, transparentIndex: frame.transparentIndex)
  }
}
