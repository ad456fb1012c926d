/// Reads the composited frames of a remote file on the calling thread, from bytes that are here.
///
/// Says which bytes a frame needs before it is decoded (``fetch(for:)``), so that no decode thread waits for a
/// network. A jump starts at the nearest checkpoint or independent frame; a long way there is fetched and decoded
/// in stretches of some MiB. Not `Sendable`.
final class RemoteReader {
  private let reader: FrameReader
  private let source: FetchedSource
  private let store: CheckpointStore
  private let ahead: ReadAhead
  private let options: RemoteOptions
  /// Whether the list of frames comes from an index that may belong to another file.
  private let isForeign: Bool
  /// Nil if frames are used as decoded.
  private var renderer: FrameRenderer?
  /// The last frame returned; -1 before the first.
  private var lastIndex = -1
  /// How many frames were returned in order.
  private var runCount = 0
  /// The frame for which bytes were pinned last; -1 for none.
  private var target = -1
  /// Whether checkpoints are recorded: from the first jump on.
  private var keepsCheckpoints = false
  /// Whether a checkpoint shares the canvas, which must then be copied before drawing.
  private var sharesCanvas = false

  private var image: AnimatedImage { reader.image }

  /// The most bytes that are fetched before some are decoded, unless one frame has more. There are at most
  /// ``RangeFetcher/mostReads`` ranges of them, whatever a request costs.
  private static let stretch = 4 << 20
  /// Going forward by more frames is a jump.
  private static let longestStep = 8
  /// After so many frames in order, bytes are read ahead.
  private static let worthwhileRun = 2

  init(
    _ image: AnimatedImage, fetcher: RangeFetcher, store: CheckpointStore, options: RemoteOptions,
    isForeign: Bool, rendering: Rendering
  ) {
    source = FetchedSource(fetcher)
    ahead = ReadAhead(fetcher)
    self.store = store
    self.options = options
    self.isForeign = isForeign
    var image = image
    image.options.parallelism = 1
    image.source = source
    reader = FrameReader(image)
    if rendering != Rendering() {
      renderer = FrameRenderer(rendering, of: image.canvasSize, options: image.options)
    }
  }

  // MARK: - Bytes

  /// The frame at which drawing frame `index` begins, and its canvas.
  private func start(for index: Int) -> (index: Int, canvas: Bitmap?)? {
    let current = reader.nextIndex
    if index == current { return nil }
    let start = store.start(for: index)
    return index < current || start.index > current ? start : nil
  }

  func fetch(for index: Int) -> FrameFetch? {
    guard image.frames.indices.contains(index) else { return nil }
    let path: ClosedRange<Int>
    if let missing = source.takeMissing(), let first = frame(at: missing), first < index {
      // A damaged frame shows what lies below it, so that decoding went further back than foreseen.
      path = first...index
    } else {
      path = (start(for: index)?.index ?? reader.nextIndex)...index
    }
    let last = image.frames[index].byteRange.upperBound
    if index != target {
      target = index
      source.unpin(outside: image.frames[path.lowerBound].byteRange.lowerBound..<max(last, 1))
    }
    var ranges: [Range<Int>] = []
    var next: Range<Int>?
    var count = 0
    for control in image.frames[path] where !source.isAtHand(control.byteRange) {
      var longer = ranges
      longer.append(control.byteRange, joiningWithin: options.requestCost)
      // With the gaps that are read too.
      let growth =
        longer.count > ranges.count
        ? control.byteRange.count
        : longer[longer.count - 1].upperBound - ranges[ranges.count - 1].upperBound
      guard
        count == 0 || count + growth <= Self.stretch && longer.count <= RangeFetcher.mostReads
      else {
        next = control.byteRange.lowerBound..<last
        break
      }
      count += growth
      ranges = longer
    }
    guard !ranges.isEmpty else { return nil }
    let limit = image.options.limits.liveBytes
    let stretch = max(min(Self.stretch, options.cacheByteLimit / 2), 0)
    return { [source, ahead, ranges, next] in
      do throws(AnimatedImageError) {
        let needed = source.pinnedByteCount + ranges.reduce(0) { $0 + $1.count }
        guard needed <= limit else {
          throw .exceeding(.liveBytes, asked: needed, allowed: limit, frameIndex: index)
        }
        // What is decoded after this is read while this is decoded.
        if let next { ahead.follow(next.prefix(stretch)) }
        let pieces = try await source.fetcher.bytes(in: ranges)
        for (range, bytes) in zip(ranges, pieces) { source.pin(bytes, at: range.lowerBound) }
        return nil
      } catch {
        ahead.stop()
        return error
      }
    }
  }

  /// The frame whose bytes begin where `range` does.
  private func frame(at range: Range<Int>) -> Int? {
    image.frames.firstIndex { $0.byteRange.lowerBound == range.lowerBound }
  }

  // MARK: - Frames

  /// Frame `index`. Throws `bytesMissing` if ``fetch(for:)`` has more to do; then a later call goes on.
  func frame(
    at index: Int, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame {
    guard image.frames.indices.contains(index) else {
      throw AnimatedImageError(
        .parameter, "no frame \(index), there are \(image.frames.count)", format: image.format)
    }
    if index > 0, index < reader.nextIndex || index > reader.nextIndex + Self.longestStep {
      keepsCheckpoints = true
    }
    if let start = start(for: index) { try restart(at: start) }
    while reader.nextIndex < index {
      if isCancelled() { throw AnimatedImageError(.cancelled, "between frames") }
      _ = try drawNext()
    }
    var frame = try drawNext()
    let isNext = index == lastIndex + 1
    runCount = isNext ? runCount + 1 : 0
    lastIndex = index
    if runCount > Self.worthwhileRun, options.readAheadCount > 0 {
      let start = image.frames[index].byteRange.upperBound
      ahead.follow(start..<start + options.readAheadCount)
    } else if runCount == 0 {
      ahead.stop()
    }
    if !isNext { frame = frame.allDirty }
    return try renderer?.render(frame, isCancelled: isCancelled) ?? frame
  }

  private func restart(
    at start: (index: Int, canvas: Bitmap?)
  ) throws(AnimatedImageError) {
    sharesCanvas = start.canvas != nil
    try reader.restart(at: start.index, on: start.canvas)
  }

  /// Draws the reader's next frame and measures it. First offers its canvas to the store.
  private func drawNext() throws(AnimatedImageError) -> CompositedFrame {
    let control = image.frames[reader.nextIndex]
    guard source.isAtHand(control.byteRange) else {
      throw AnimatedImageError(.bytesMissing, "frame \(control.index)")
    }
    if isForeign { try checkStart(of: control) }
    if keepsCheckpoints,
      try store.offer(
        control.index, { () throws(AnimatedImageError) in try reader.snapshot().canvas })
    {
      sharesCanvas = true
    }
    let begin = ContinuousClock.now
    guard let frame = try reader.next() else {
      throw AnimatedImageError(.parameter, "no frame \(control.index)", format: image.format)
    }
    if !sharesCanvas { store.record(begin.duration(to: .now), of: frame.index) }
    sharesCanvas = false
    source.unpin(outside: control.byteRange.upperBound ..< .max)
    return frame
  }

  /// Throws if the bytes of `control` do not begin a frame: the index then belongs to another file.
  private func checkStart(of control: FrameControl) throws(AnimatedImageError) {
    guard !control.byteRange.isEmpty else { return }
    var buffer = ReadBuffer()
    let begins = try source.withBytes(in: control.byteRange, buffer: &buffer) {
      (bytes) throws(AnimatedImageError) in image.header.codec.beginsFrame(bytes)
    }
    guard begins else {
      throw AnimatedImageError(
        .invalidIndex, "no frame begins where the index says", format: image.format,
        frameIndex: control.index, byteOffset: control.byteRange.lowerBound)
    }
  }
}

extension RemoteReader: FrameProducing {
  /// Gives up the bytes that it holds; those that are needed again are fetched again.
  func rest() {
    reader.rest()
    renderer?.rest()
    ahead.stop()
    source.unpin(outside: 0..<0)
    target = -1
  }

  func frame(at index: Int) throws(AnimatedImageError) -> CompositedFrame {
    try frame(at: index) { false }
  }
}

extension [Range<Int>] {
  /// Appends a range that lies behind the others, or extends the last one over a gap shorter than `distance`.
  mutating func append(_ range: Range<Int>, joiningWithin distance: Int) {
    guard let last, range.lowerBound - last.upperBound < Swift.max(distance, 1) else {
      return append(range)
    }
    self[count - 1] = last.lowerBound..<Swift.max(last.upperBound, range.upperBound)
  }
}
