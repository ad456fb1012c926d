/// Writes bitmaps as PNG files, each in the smallest lossless form that is cheap to find.
///
/// Pictures of up to 256 colours become palette or grey pictures of 1, 2, 4 or 8 bits, opaque ones
/// lose their alpha channel, and the rest stay RGBA; 16-bit pictures keep their 16 bits. Decoding
/// returns exactly the original pixels, including the colours of transparent ones.
///
/// One owner at a time; not `Sendable`. An encoder keeps its working memory, about three pictures,
/// for the next picture: use one encoder per thread, for many pictures.
public final class PNGEncoder {
  /// How much time to spend on making the file small.
  public struct Effort: OpenChoice, Sendable, Hashable, CustomStringConvertible {
    package enum Kind: String, CaseIterable, Sendable { case fast, balanced, small }

    package let kind: Kind
    package init(_ kind: Kind) { self.kind = kind }

    /// About half the time of ``balanced``, for files an eighth larger.
    public static let fast = Effort(.fast)
    /// The best size per unit of time, by measurement. The default.
    public static let balanced = Effort(.balanced)
    /// Files some ten percent smaller than with ``balanced``, for some 30 times its time, more for
    /// drawings and less for noise: for pictures that are written once and kept or sent often.
    public static let small = Effort(.small)

    /// The effort's name.
    public var description: String { rawValue }
  }

  private let effort: Effort
  private let compressors = CompressorSet()
  /// For ``Effort/fast``.
  private lazy var deflater = ScanlineDeflater()
  private let metadata: PNGMetadataChunks
  /// The most bytes in one IDAT: PNG's limit, which compressed noise may exceed.
  var dataLimit = 0x7fff_ffff
  private let indexer = ColorIndexer()
  private var lines = PixelStorage(byteCount: 64)
  private var filtered = PixelStorage(byteCount: 64)
  private var packed = PixelStorage(byteCount: 64)
  /// A second result, for ``Effort/small``.
  private var spare = PixelStorage(byteCount: 64)

  /// Creates an encoder that adds the chunks of `metadata` (colour space, profile, density, Exif,
  /// text) to each file. Working memory is allocated with the first picture.
  public init(effort: Effort = .balanced, metadata: AnimationMetadata? = nil) {
    self.effort = effort
    self.metadata = metadata.map { PNGMetadataChunks($0) } ?? PNGMetadataChunks()
  }

  /// Encodes `bitmap` as a PNG file.
  ///
  /// Takes about 10 to 40 nanoseconds per pixel by default. Throws ``AnimatedImageError/Code/parameter`` for a
  /// picture without pixels or with premultiplied alpha, which PNG cannot hold, and
  /// ``AnimatedImageError/Code/limitExceeded`` for one that is too large for PNG, and
  /// ``AnimatedImageError/Code/outOfMemory`` if allocation fails.
  public func encode(_ bitmap: Bitmap) throws(AnimatedImageError) -> [UInt8] {
    try encode(bitmap, in: PixelRect(bitmap.size))
  }

  /// Encodes the part of `bitmap` in `rect`, which must lie inside.
  package func encode(
    _ bitmap: Bitmap, in rect: PixelRect
  ) throws(AnimatedImageError) -> [UInt8] {
    guard !rect.isEmpty else {
      throw AnimatedImageError(.parameter, "a picture without pixels cannot be written")
    }
    precondition(PixelRect(bitmap.size).contains(rect))
    let mostPixels = 0x7fff_ffff / 8
    guard rect.size.area <= mostPixels else {
      throw .exceeding(
        .pngPixels, asked: rect.size.area, allowed: mostPixels,
        "a picture of \(rect.size) does not fit a PNG")
    }
    let isDeep = bitmap.format == .rgba16
    let bitmap = try isDeep ? bitmap : bitmap.straightRGBA()
    let allowsGrey = metadata.profile.isEmpty || metadata.profileIsGrey
    if !isDeep {
      try Self.reserve(&lines, (rect.width + 1) * rect.height + PixelPacking.slack)
      if let found = indexer.index(bitmap, rect, into: lines),
        let table = ColorTable(found: found, area: rect.size.area, allowsGrey: allowsGrey)
      {
        PixelPacking.pack(
          lines, width: rect.width, height: rect.height, remap: table.remap,
          depth: table.form.bitDepth)
        return try file(rect.size, table.form, table)
      }
    }
    let (isOpaque, isGrey) = PixelPacking.survey(bitmap, rect)
    let type: PNGForm.ColorType =
      switch (isOpaque, isGrey && allowsGrey) {
      // Of 8 bits, opaque greys have a table, unless the picture is tiny.
      case (true, let isGrey): isGrey && isDeep ? .grey : .rgb
      case (false, let isGrey): isGrey ? .greyAlpha : .rgba
      }
    let form = PNGForm(colorType: type, bitDepth: isDeep ? 16 : 8)
    let count = (form.rowBytes(width: rect.width) + 1) * rect.height
    try Self.reserve(&lines, count + PixelPacking.slack)
    if isDeep {
      PixelPacking.writeDeep(bitmap, rect, as: type, into: lines)
    } else {
      PixelPacking.write(bitmap, rect, as: type, into: lines)
    }
    return try file(rect.size, form, nil)
  }

  private static func reserve(
    _ storage: inout PixelStorage, _ count: Int
  ) throws(AnimatedImageError) {
    if storage.byteCount < count { storage = try PixelStorage(asking: count, zeroed: false) }
  }

  /// Filters and compresses ``lines`` and wraps them in chunks.
  private func file(
    _ size: PixelSize, _ form: PNGForm, _ table: ColorTable?
  ) throws(AnimatedImageError) -> [UInt8] {
    let count = try pack(size, form)
    let capacity = count + 12 * (count / dataLimit) + 4096
    try PixelMemory.require(capacity)
    var chunks = PNGChunks(capacity: capacity)
    chunks.append(raw: PNGChunks.signature)
    chunks.append(
      "IHDR",
      UInt32(size.width).bigEndianBytes + UInt32(size.height).bigEndianBytes
        + [UInt8(form.bitDepth), form.colorType.rawValue, 0, 0, 0])
    chunks.append(raw: metadata.color)
    if form.colorType.isGrey == metadata.profileIsGrey { chunks.append(raw: metadata.profile) }
    if let table, form.colorType == .palette {
      chunks.append("PLTE", table.paletteBytes)
      if table.translucentCount > 0 { chunks.append("tRNS", table.transparencyBytes) }
    }
    chunks.append(raw: metadata.other)
    chunks.append("IDAT", packed, count: count, limit: dataLimit)
    chunks.append(raw: metadata.text)
    chunks.append("IEND", [])
    return chunks.bytes
  }

  /// Filters ``lines`` and compresses them into ``packed``; returns the number of bytes.
  private func pack(_ size: PixelSize, _ form: PNGForm) throws(AnimatedImageError) -> Int {
    let line = form.rowBytes(width: size.width) + 1
    if effort == .small { return try packSmall(size, form, line: line) }
    if effort == .fast { return try packFast(size, form, line: line) }
    let total = line * size.height
    let (source, level) = try prepare(size, form, line: line)
    let compressor = try compressors.compressor(level: level)
    try Self.reserve(&packed, compressor.bound(total))
    return compressor.compress(source, range: 0..<total, into: packed)
  }

  /// Compresses ``lines`` into ``packed``, filtered if a sample is smaller that way; returns the number of bytes.
  ///
  /// Dithered and noisy pictures that filters do not help go to libdeflate, which finds more short repetitions.
  private func packFast(
    _ size: PixelSize, _ form: PNGForm, line: Int
  ) throws(AnimatedImageError) -> Int {
    let total = line * size.height
    try Self.reserve(&packed, ScanlineDeflater.bound(total))
    let plain = ScanlineDeflater.Form(
      bytesPerPixel: form.bytesPerPixel, line: line, isFiltered: false)
    let filtered = ScanlineDeflater.Form(
      bytesPerPixel: form.bytesPerPixel, line: line, isFiltered: true)
    let filter = form.canFilter ? RowFilter(form: form, width: size.width) : nil
    if filter != nil { try Self.reserve(&self.filtered, total) }
    var (sampled, unfiltered, byFilter) = (0, 0, 0)
    for rows in sample(size, line: line, bandBytes: 8 << 10, leastRows: 2) {
      let range = rows.lowerBound * line..<rows.upperBound * line
      sampled += range.count
      unfiltered += deflater.compress(lines, range: range, form: plain, into: packed)
      guard let filter else { continue }
      filter.filter(lines, rows: rows, into: self.filtered, fixed: 4)
      byFilter += deflater.compress(self.filtered, range: range, form: filtered, into: packed)
    }
    // ``packed`` holds what was compressed last: nothing more to do if the sample was the whole picture.
    // Drawings that compress well repeat farther apart than a sample shows, and lose by filtering: 199 pictures
    // of 87 animations from elsewhere take the same bytes with any limit from 1/8 to 1/20, and more without.
    if let filter, byFilter < unfiltered, unfiltered > sampled / 20 {
      if sampled == total { return byFilter }
      filter.filter(lines, rows: 0..<size.height, into: self.filtered, fixed: 4)
      return deflater.compress(self.filtered, range: 0..<total, form: filtered, into: packed)
    }
    if unfiltered > sampled / 4 {
      let compressor = try compressors.compressor(level: 1)
      try Self.reserve(&packed, compressor.bound(total))
      return compressor.compress(lines, range: 0..<total, into: packed)
    }
    if filter == nil, sampled == total { return unfiltered }
    return deflater.compress(lines, range: 0..<total, form: plain, into: packed)
  }

  /// Up to three bands of rows, spread over a picture.
  private func sample(
    _ size: PixelSize, line: Int, bandBytes: Int, leastRows: Int
  ) -> [Range<Int>] {
    let rows = min(size.height, max(leastRows, bandBytes / line))
    let count = min(3, max(1, size.height / (rows * 4)))
    return (0..<count).map { band in
      let first = (size.height - rows) * (2 * band + 1) / (2 * count)
      return first..<first + rows
    }
  }

  /// Returns the scanlines to compress, filtered where that helps, and the compression level.
  ///
  /// Both are chosen by compressing a few bands of rows at the fastest level: drawings often repeat
  /// exactly and lose by filtering, while photographs gain by half; and the exhaustive search for
  /// block splits of levels 8 and up pays only for pictures that compress very well.
  private func prepare(
    _ size: PixelSize, _ form: PNGForm, line: Int
  ) throws(AnimatedImageError) -> (PixelStorage, level: Int) {
    let filter = form.canFilter ? RowFilter(form: form, width: size.width) : nil
    let probe = try compressors.compressor(level: 1)
    if form.canFilter { try Self.reserve(&filtered, line * size.height) }
    var (plain, byFilter, sampled) = (0, 0, 0)
    for rows in sample(size, line: line, bandBytes: 32 << 10, leastRows: 8) {
      let range = rows.lowerBound * line..<rows.upperBound * line
      try Self.reserve(&packed, probe.bound(range.count))
      sampled += range.count
      plain += probe.compress(lines, range: range, into: packed)
      guard let filter else { continue }
      filter.filter(lines, rows: rows, into: filtered)
      byFilter += probe.compress(filtered, range: range, into: packed)
    }
    if let filter, byFilter < plain {
      filter.filter(lines, rows: 0..<size.height, into: filtered)
      // Level 6 takes a third longer for half a percent less.
      return (filtered, 5)
    }
    return (lines, plain < sampled / 12 ? 8 : 7)
  }

  /// Compresses ``lines`` into ``packed`` in every way that may be the smallest; returns the number of bytes.
  ///
  /// All filterings are tried at a middle level, and the best two at the highest one: which of them wins is
  /// decided by the longest searches only.
  private func packSmall(
    _ size: PixelSize, _ form: PNGForm, line: Int
  ) throws(AnimatedImageError) -> Int {
    let total = line * size.height
    let best = try compressors.compressor(level: 12)
    try Self.reserve(&packed, best.bound(total))
    guard form.canFilter else { return best.compress(lines, range: 0..<total, into: packed) }
    let trial = try compressors.compressor(level: 7)
    try Self.reserve(&packed, trial.bound(total))
    try Self.reserve(&spare, packed.byteCount)
    try Self.reserve(&filtered, total)
    let filter = RowFilter(form: form, width: size.width)
    var trials: [(filtering: Filtering, count: Int)] = []
    for filtering in Filtering.all {
      let source = apply(filtering, filter, height: size.height)
      trials.append((filtering, trial.compress(source, range: 0..<total, into: packed)))
    }
    trials.sort { $0.count < $1.count }
    let first = apply(trials[0].filtering, filter, height: size.height)
    let count = best.compress(first, range: 0..<total, into: packed)
    let second = apply(trials[1].filtering, filter, height: size.height)
    let other = best.compress(second, range: 0..<total, into: spare)
    // 0 means that it did not fit, which the bound excludes.
    guard other > 0, other < count else { return count }
    swap(&packed, &spare)
    return other
  }

  /// How all rows of a picture are filtered.
  private enum Filtering {
    case none, chosen
    case fixed(Int)

    static let all: [Filtering] = [.none, .chosen] + (1...4).map { .fixed($0) }
  }

  /// ``lines``, filtered.
  private func apply(_ filtering: Filtering, _ filter: RowFilter, height: Int) -> PixelStorage {
    switch filtering {
    case .none: return lines
    case .chosen: filter.filter(lines, rows: 0..<height, into: filtered)
    case .fixed(let number):
      filter.filter(lines, rows: 0..<height, into: filtered, fixed: number)
    }
    return filtered
  }
}

/// How the pixels of a written PNG are stored: colour type and bit depth, and hence bytes per row.
struct PNGForm: Hashable, Sendable {
  /// The colour types of IHDR, with their codes.
  enum ColorType: UInt8, Sendable {
    case grey = 0
    case rgb = 2
    case palette = 3
    case greyAlpha = 4
    case rgba = 6

    /// Samples per pixel.
    var channels: Int {
      switch self {
      case .grey, .palette: 1
      case .greyAlpha: 2
      case .rgb: 3
      case .rgba: 4
      }
    }

    /// Whether its colour profile must be a grey one.
    var isGrey: Bool { self == .grey || self == .greyAlpha }
  }

  let colorType: ColorType
  /// Bits per sample: 1, 2, 4, 8 or 16.
  let bitDepth: Int

  /// Whether filters may help: neighbouring indices or packed samples are unrelated values.
  var canFilter: Bool { colorType != .palette && bitDepth >= 8 }

  /// The filters' distance to the pixel on the left: whole bytes, at least one.
  var bytesPerPixel: Int { max(1, colorType.channels * bitDepth / 8) }

  /// Bytes of one row without its filter byte.
  func rowBytes(width: Int) -> Int { (width * colorType.channels * bitDepth + 7) / 8 }
}
