/// A reader that draws the frames of a remote file on the calling thread, from bytes that have been fetched.
///
/// The bytes that frames need are fetched before decoding (see ``fetch(for:)``), so no decode thread waits for the
/// network. If many frames must be decoded to reach a requested frame, their bytes are fetched and decoded in stretches
/// of up to 4 MiB, or of one frame if that is larger. The reader is not `Sendable`.
final class FetchedReader: FrameReading {
  private let reader: FrameReader
  private let source: FetchedSource
  private let ahead: ReadAhead
  private let options: RemoteOptions
  /// Whether the list of frames comes from an index that may belong to another file.
  private let isForeign: Bool
  /// The frame for which bytes were last pinned, or -1 for none.
  private var target = -1
  /// The number of consecutive requests that were each for the frame after the previously requested frame.
  private var runCount = 0

  private var image: AnimatedImage { reader.image }
  var frameCount: Int { reader.frameCount }
  var nextIndex: Int { reader.nextIndex }

  /// The maximum number of bytes fetched before some of them are decoded, unless a single frame has more bytes. It is
  /// less under a lower limit on live bytes. The bytes are fetched in at most ``RangeFetcher/mostReads`` ranges,
  /// however small ``RemoteOptions/gapByteLimit`` is.
  private static let stretch = 4 << 20
  /// The number of consecutive requests in order after which read-ahead starts.
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
      // The canvas shows through a damaged frame, so decoding needs earlier frames than expected.
      path = first...index
    }
    let last = image.frames[index].byteRange.upperBound
    if index != target {
      runCount = index == target + 1 ? runCount + 1 : 0
      target = index
      source.unpin(outside: image.frames[path.lowerBound].byteRange.lowerBound..<max(last, 1))
    }
    // Decode what has been fetched before fetching more. Decoding throws `bytesMissing` at the first frame that is
    // missing, and that frame is then the first of the path.
    if source.isAtHand(image.frames[path.lowerBound].byteRange) { return nil }
    var ranges: [Range<Int>] = []
    var next: Range<Int>?
    var count = 0
    let limit = image.options.limits.liveBytes
    // A low limit means shorter stretches: a local file decodes one frame after the other, too.
    let longest = min(Self.stretch, max(limit - source.pinnedByteCount, 0))
    for control in image.frames[path] where !source.isAtHand(control.byteRange) {
      var longer = ranges
      longer.append(control.byteRange, joiningWithin: options.gapByteLimit)
      // The number of bytes added, including gaps between ranges, which are read too.
      let growth =
        longer.count > ranges.count
        ? control.byteRange.count
        : longer[longer.count - 1].upperBound - ranges[ranges.count - 1].upperBound
      guard
        count == 0 || count + growth <= longest && longer.count <= RangeFetcher.mostReads
      else {
        next = control.byteRange.lowerBound..<last
        break
      }
      count += growth
      ranges = longer
    }
    guard !ranges.isEmpty else { return nil }
    let stretch = max(min(Self.stretch, options.byteLimit / 2), 0)
    return { [source, ahead, ranges, next] in
      do throws(AnimatedImageError) {
        let needed = source.pinnedByteCount + ranges.reduce(0) { $0 + $1.count }
        guard needed <= limit else {
          throw .exceeding(.liveBytes, found: needed, allowed: limit, frameIndex: index)
        }
        // Read the bytes of the next stretch while this one is decoded.
        if let next { ahead.follow(next.prefix(stretch)) }
        let pieces = try await source.fetcher.bytes(in: ranges)
        for (range, bytes) in zip(ranges, pieces) { source.pin(bytes, at: range.lowerBound) }
        return nil
      } catch {
        ahead.stop()
        return error.code == .cancelled ? error : error.inFrame(index)
      }
    }
  }

  /// Returns the frame whose bytes begin at the start of `range`, or nil.
  private func frame(at range: Range<Int>) -> Int? {
    image.frames.firstIndex { $0.byteRange.lowerBound == range.lowerBound }
  }

  // MARK: - Frames

  /// Draws the next frame. Throws `bytesMissing` if ``fetch(for:)`` must be called again first; the next call of this
  /// method then continues with the same frame.
  func next(isCancelled: () -> Bool) throws(AnimatedImageError) -> CompositedFrame? {
    guard reader.nextIndex < reader.frameCount else { return nil }
    let control = image.frames[reader.nextIndex]
    guard source.isAtHand(control.byteRange) else {
      throw AnimatedImageError(
        .bytesMissing, "the bytes of frame \(control.index) have not been fetched")
    }
    if isForeign { try checkStart(of: control) }
    let frame = try reader.next(isCancelled: isCancelled)
    source.unpin(outside: control.byteRange.upperBound ..< .max)
    if control.index == target { readAhead(of: control) }
    return frame
  }

  /// If frames are requested in order, reads ahead the bytes that follow the requested frame `control`.
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

  /// Releases the pinned bytes, which are fetched again when they are needed.
  func rest() {
    reader.rest()
    ahead.stop()
    source.unpin(outside: 0..<0)
    target = -1
  }

  /// Throws `invalidImageIndex` if the bytes of `control` do not begin like a frame, which means that the index belongs
  /// to another file.
  private func checkStart(of control: FrameControl) throws(AnimatedImageError) {
    guard !control.byteRange.isEmpty else { return }
    var buffer = ReadBuffer()
    let begins = try source.withBytes(in: control.byteRange, buffer: &buffer) {
      (bytes) throws(AnimatedImageError) in image.header.codec.beginsFrame(bytes)
    }
    guard begins else {
      throw AnimatedImageError(
        .invalidImageIndex, "no frame begins at the offset given in the index",
        format: image.format, frameIndex: control.index, byteOffset: control.byteRange.lowerBound)
    }
  }
}
