/// Draws the frames of a remote file on the calling thread, from bytes that have been fetched.
///
/// Says which bytes frames need before they are decoded (``fetch(for:)``), so that no decode thread waits for a
/// network. A long way to a frame is fetched and decoded in stretches of some MiB. Not `Sendable`.
final class FetchedReader: FrameReading {
  private let reader: FrameReader
  private let source: FetchedSource
  private let ahead: ReadAhead
  private let options: RemoteOptions
  /// Whether the list of frames comes from an index that may belong to another file.
  private let isForeign: Bool
  /// The frame for which bytes were pinned last; -1 for none.
  private var target = -1
  /// How many frames were requested in order.
  private var runCount = 0

  private var image: AnimatedImage { reader.image }
  var frameCount: Int { reader.frameCount }
  var nextIndex: Int { reader.nextIndex }

  /// The most bytes that are fetched before some are decoded, unless one frame has more. There are at most
  /// ``RangeFetcher/mostReads`` ranges of them, whatever a request costs.
  private static let stretch = 4 << 20
  /// Read-ahead starts after this many frames in order.
  private static let worthwhileRun = 2

  init(
    _ image: AnimatedImage, fetcher: RangeFetcher, options: RemoteOptions, isForeign: Bool
  ) {
    source = FetchedSource(fetcher)
    ahead = ReadAhead(fetcher)
    self.options = options
    self.isForeign = isForeign
    var image = image
    image.options.parallelism = 1
    image.source = source
    reader = FrameReader(image)
  }

  // MARK: - Bytes

  func fetch(for path: ClosedRange<Int>) -> FrameFetch? {
    var path = path
    let index = path.upperBound
    if let missing = source.takeMissing(), let first = frame(at: missing), first < index {
      // A damaged frame shows what is below it, so decoding went further back than expected.
      path = first...index
    }
    let last = image.frames[index].byteRange.upperBound
    if index != target {
      runCount = index == target + 1 ? runCount + 1 : 0
      target = index
      source.unpin(outside: image.frames[path.lowerBound].byteRange.lowerBound..<max(last, 1))
    }
    var ranges: [Range<Int>] = []
    var next: Range<Int>?
    var count = 0
    for control in image.frames[path] where !source.isAtHand(control.byteRange) {
      var longer = ranges
      longer.append(control.byteRange, joiningWithin: options.gapByteLimit)
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
    let stretch = max(min(Self.stretch, options.byteLimit / 2), 0)
    return { [source, ahead, ranges, next] in
      do throws(AnimatedImageError) {
        let needed = source.pinnedByteCount + ranges.reduce(0) { $0 + $1.count }
        guard needed <= limit else {
          throw .exceeding(.liveBytes, asked: needed, allowed: limit, frameIndex: index)
        }
        // The bytes that are decoded next are read while these are decoded.
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

  /// Draws the next frame. Throws `bytesMissing` if ``fetch(for:)`` has more to do; a later call then
  /// continues.
  func next(isCancelled: () -> Bool) throws(AnimatedImageError) -> CompositedFrame? {
    guard reader.nextIndex < reader.frameCount else { return nil }
    let control = image.frames[reader.nextIndex]
    guard source.isAtHand(control.byteRange) else {
      throw AnimatedImageError(.bytesMissing, "frame \(control.index)")
    }
    if isForeign { try checkStart(of: control) }
    let frame = try reader.next(isCancelled: isCancelled)
    source.unpin(outside: control.byteRange.upperBound ..< .max)
    if control.index == target { readAhead(of: control) }
    return frame
  }

  /// Reads the bytes after a requested frame, if frames are requested in order.
  private func readAhead(of control: FrameControl) {
    if runCount > Self.worthwhileRun, options.readAheadCount > 0 {
      let start = control.byteRange.upperBound
      ahead.follow(start..<start + options.readAheadCount)
    } else if runCount == 0 {
      ahead.stop()
    }
  }

  func canvas() throws(AnimatedImageError) -> Bitmap { try reader.canvas() }

  func restart(at index: Int, on canvas: Bitmap?) throws(AnimatedImageError) {
    try reader.restart(at: index, on: canvas)
  }

  /// Releases its bytes; they are fetched again when needed.
  func rest() {
    reader.rest()
    ahead.stop()
    source.unpin(outside: 0..<0)
    target = -1
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
