internal import Synchronization

/// Compresses the frames of an APNG. Each frame either replaces the canvas, or leaves unchanged pixels transparent and
/// is blended over the canvas, whichever takes fewer bytes.
///
/// Frames of 16 bits per sample always replace the canvas, because blending them involves rounding and some decoders do
/// not support it.
final class APNGFrameEncoder: FrameCompressing, @unchecked Sendable {
  // Sendable: the mutable stored properties are accessed only by `encode` and by the thread that it starts. `isBusy` is
  // set from the beginning of a call until the work of that thread ends. A cancelled call returns before the work ends.
  private let storage: PNGStorage
  private let effort: EncodingEffort
  private let scanlines: ScanlineCompressor
  private let indexer = ColorIndexer()
  private let isBusy = Atomic<Bool>(false)

  /// The maximum byte count of a frame that is compressed whole in both ways. For a larger frame, a sample decides
  /// between the two, except with ``EncodingEffort/small``.
  private static let trialLimit = 1 << 18
  /// The byte count of a sample, and that of a band. Frames are converted to scanlines band by band.
  private static let (sampleBytes, bandBytes) = (3 << 15, 1 << 15)

  /// Creates an encoder.
  ///
  /// - Parameter isTrial: Whether the frames are compressed only to estimate their byte counts.
  init(_ storage: PNGStorage, effort: EncodingEffort, isTrial: Bool) {
    self.storage = storage
    self.effort = effort
    scanlines = ScanlineCompressor(effort: effort, levelAfterTrials: isTrial ? 7 : 12)
    if let table = storage.table { indexer.prepare(table) }
  }

  func encode(
    _ work: FrameWork, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CodedFrame {
    precondition(!isBusy.exchange(true, ordering: .acquiring), "two threads use one encoder")
    let byteCount = storage.form.rowBytes(width: work.rect.width) * work.rect.height
    guard byteCount > (effort == .small ? 1 << 16 : 1 << 20) else {
      defer { isBusy.store(false, ordering: .releasing) }
      return try code(work, isCancelled)
    }
    // The frame is compressed on another thread, because libdeflate cannot be interrupted and takes up to half a minute
    // for a large picture.
    let coded = resultOnThread(unless: isCancelled) { [self] flag in
      defer { isBusy.store(false, ordering: .releasing) }
      return Result { () throws(AnimatedImageError) in try code(work) { flag.isRaised } }
    }
    guard let coded else { throw Self.cancelled }
    return try coded.get()
  }

  private func code(
    _ work: FrameWork, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CodedFrame {
    var blends: [BlendOperation] = [.source]
    if storage.holdsClear, work.picture.format != .rgba16, let base = work.base,
      PixelOverlay.isPossible(work.picture, over: base, in: work.rect)
    {
      blends.append(.over)
    }
    let (size, form) = (work.rect.size, storage.form)
    let isLarge = form.rowBytes(width: size.width) * size.height > Self.trialLimit
    if blends.count > 1, effort == .balanced || isLarge && effort == .fast {
      let rows = isLarge ? sampleRows(size) : [0..<size.height]
      let sampled = PixelSize(width: size.width, height: rows.reduce(0) { $0 + $1.count })
      var counts: [Int] = []
      for blend in blends {
        try fill(work, blend, rows: rows, isCancelled)
        counts.append(try scanlines.estimate(sampled, form))
      }
      blends = [blends[counts[1] < counts[0] ? 1 : 0]]
    }
    var best: CodedFrame?
    for blend in blends {
      try fill(work, blend, rows: [0..<size.height], isCancelled)
      let count = try scanlines.pack(size, form, isCancelled: isCancelled)
      if let best, best.bytes.count <= count { continue }
      var bytes: [UInt8] = []
      try bytes.makeRoom(adding: count)
      let packed = scanlines.packed
      bytes.append(copying: packed.bytes.extracting(0..<count))
      best = CodedFrame(bytes: bytes, blend: blend)
    }
    guard let best else { preconditionFailure("a frame is drawn in some way") }
    return best
  }

  /// Returns the ranges of the sampled rows: three bands, spread over the frame.
  private func sampleRows(_ size: PixelSize) -> [Range<Int>] {
    let line = storage.form.rowBytes(width: size.width) + 1
    let rows = max(1, min(size.height / 3, Self.sampleBytes / line / 3))
    return (0..<3).map { band in
      let first = (size.height - rows) * (2 * band + 1) / 6
      return first..<first + rows
    }
  }

  /// Converts the given ranges of rows to scanlines, one range after another.
  private func fill(
    _ work: FrameWork, _ blend: BlendOperation, rows: [Range<Int>], _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    let (rect, form) = (work.rect, storage.form)
    let height = rows.reduce(0) { $0 + $1.count }
    let lines = try scanlines.reserve((form.rowBytes(width: rect.width) + 1) * height)
    let bandRows = max(1, Self.bandBytes / (rect.width * work.picture.format.bytesPerPixel))
    var target = 0
    for range in rows {
      for first in stride(from: range.lowerBound, to: range.upperBound, by: bandRows) {
        if isCancelled() { throw Self.cancelled }
        let count = min(bandRows, range.upperBound - first)
        let band = PixelRect(x: rect.x, y: rect.y + first, width: rect.width, height: count)
        try fill(work, blend, band, into: lines, atRow: target)
        target += count
      }
    }
  }

  private func fill(
    _ work: FrameWork, _ blend: BlendOperation, _ band: PixelRect, into lines: PixelStorage,
    atRow row: Int
  ) throws(AnimatedImageError) {
    var (picture, area) = (work.picture, band)
    let type = storage.form.colorType
    let clear = storage.key.map { PixelOverlay.word($0, bitDepth: storage.form.bitDepth) }
    if storage.table == nil, type != .rgba {
      let found = PixelPacking.survey(picture, band)
      guard found.isGrey || !type.isGrey, found.isOpaque || storage.holdsClear,
        clear.map({ PixelOverlay.isPossible(picture, in: band, clear: $0) }) ?? true
      else { throw Self.unknownColor }
    }
    if blend == .over || clear.map({ $0 != 0 }) == true {
      picture = try PixelOverlay.picture(
        work.picture, over: blend == .over ? work.base : nil, in: band, clear: clear ?? 0)
      area = PixelRect(picture.size)
    }
    if storage.table != nil {
      guard indexer.index(picture, area, into: lines, atRow: row) else {
        throw Self.unknownColor
      }
    } else if storage.form.bitDepth == 16 {
      PixelPacking.writeDeep(picture, area, as: type, into: lines, atRow: row)
    } else {
      PixelPacking.write(picture, area, as: type, into: lines, atRow: row)
    }
  }

  private static let cancelled = AnimatedImageError(
    .cancelled, "stopped while encoding a frame", format: .apng)
  private static let unknownColor = AnimatedImageError(
    .parameter, "a frame has a colour that is not in the survey", format: .apng)
}
