/// The positions of the chunks that are copied from a PNG and do not belong to a frame.
struct PNGStructureMap: Sendable {
  /// A chunk that is copied.
  struct Chunk: Sendable {
    let type: [UInt8]
    /// The range of the whole chunk, including length and checksum.
    let range: Range<Int>

    /// The type as text.
    var name: String { String(decoding: type, as: UTF8.self) }
  }

  /// The chunks between IHDR and the first IDAT, except those of the animation (acTL, fcTL and fdAT).
  private(set) var head: [Chunk] = []
  /// The ancillary chunks after the first IDAT.
  private(set) var tail: [Chunk] = []
  /// Whether the first frame is the static image.
  let beginsWithStaticImage: Bool
  /// Whether all pixels of the source are opaque.
  private let isOpaque: Bool

  init(_ image: AnimatedImage) throws(AnimatedImageError) {
    beginsWithStaticImage = image.staticImage == nil
    isOpaque = image.header.isOpaquePNG
    var buffer = ReadBuffer()
    // The end of the signature and IHDR.
    var end = 33
    var isHead = true
    let pictures = (image.staticImage.map { [$0] } ?? []) + image.frames
    for range in pictures.map(\.byteRange) + [image.source.byteCount..<image.source.byteCount] {
      let gap = end..<max(end, range.lowerBound)
      try Self.forEachChunk(in: gap, image.source, &buffer) { chunk in
        if ["acTL", "fcTL", "fdAT", "IDAT", "IEND"].contains(chunk.name) {
          return chunk.name != "IEND"
        }
        if isHead { head.append(chunk) } else if chunk.type[0] & 0x20 != 0 { tail.append(chunk) }
        return true
      }
      isHead = false
      end = max(end, range.upperBound)
    }
  }

  /// What becomes of a chunk if all pictures are encoded again, without a change of their size and their colours.
  private enum Fate {
    /// The encoder writes what it contains, from the pixels or the metadata.
    case written
    case carried, significantBits, background, dropped
  }

  private static func fate(of chunk: Chunk) -> Fate {
    switch chunk.name {
    case "PLTE", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "cICP", "pHYs", "eXIf", "tEXt", "zTXt",
      "iTXt":
      .written
    case "sBIT": .significantBits
    case "bKGD": .background
    // These chunks are not safe to copy, but depend only on pictures, not on how pixels are stored.
    case "tIME", "sPLT", "mDCV", "cLLI", "sCAL", "sTER": .carried
    // Critical chunks change, so that of unknown chunks, only those that are safe to copy may be copied (14.2). A caBX
    // has a signature of the old bytes, and hIST counts the pixels of the old palette.
    default: chunk.type[0] & chunk.type[3] & 0x20 != 0 ? .carried : .dropped
    }
  }

  /// Returns whether `chunk` may be wrong in a file that differs from the source in anything. An iDOT, for example, has
  /// offsets of the old bytes. A histogram is not such a chunk: it is kept with its palette.
  static func isBound(_ chunk: Chunk) -> Bool {
    chunk.type[0] & 0x20 != 0 && fate(of: chunk) == .dropped && chunk.name != "hIST"
  }

  /// The number of bytes in chunks whose contents the image's metadata does not have.
  var otherByteCount: Int {
    (head + tail).reduce(0) { $0 + (Self.fate(of: $1) == .written ? 0 : $1.range.count) }
  }

  /// Returns the chunks that a file takes over in which all pictures of `source` are encoded again. Chunks before and
  /// after the pixels of the static image stay there, as unknown ones have to (14.2).
  ///
  /// - Returns: The chunks, whether all texts are among them because one has properties that the metadata lacks, and
  ///   the number of bytes in chunks that are left out, besides those that the form in which pixels are stored may rule
  ///   out.
  func carried(
    from source: any ByteSource
  ) throws(AnimatedImageError) -> (
    parts: AnimationRequest.Carried, hasTexts: Bool, droppedByteCount: Int
  ) {
    var parts = AnimationRequest.Carried()
    var droppedByteCount = 0
    var buffer = ReadBuffer()
    var hasTexts = false
    for chunk in head + tail {
      let isTranslated = try Self.isTranslated(chunk, source, &buffer)
      hasTexts = hasTexts || isTranslated
    }
    for (place, chunk) in (head + tail).enumerated() {
      var fate = Self.fate(of: chunk)
      if hasTexts, Self.isText(chunk) { fate = .carried }
      guard fate != .written else { continue }
      guard fate != .dropped else {
        droppedByteCount += chunk.range.count
        continue
      }
      let bytes = try source.copy(chunk.range, &buffer)
      switch fate {
      // Only one of each is valid.
      case .significantBits: parts.significantBits = bytes
      case .background: parts.background = bytes
      default: if place < head.count { parts.head += bytes } else { parts.tail += bytes }
      }
    }
    return (parts, hasTexts, droppedByteCount)
  }

  private static func isText(_ chunk: Chunk) -> Bool {
    ["tEXt", "zTXt", "iTXt"].contains(chunk.name)
  }

  /// Returns whether `chunk` is a text with a language or a translated keyword, which the metadata lacks (11.3.3.4).
  private static func isTranslated(
    _ chunk: Chunk, _ source: any ByteSource, _ buffer: inout ReadBuffer
  ) throws(AnimatedImageError) -> Bool {
    guard chunk.name == "iTXt" else { return false }
    // A keyword has at most 79 bytes. Two flags and the language follow the zero byte after it.
    let data = chunk.range.lowerBound + 8..<chunk.range.upperBound - 4
    let start = try source.copy(data.prefix(84), &buffer)
    guard let zero = start.firstIndex(of: 0), zero + 4 < start.count else { return false }
    return start[zero + 3] != 0 || start[zero + 4] != 0
  }

  /// Calls `body` with each whole chunk in `range`, until it returns false.
  static func forEachChunk(
    in range: Range<Int>, _ source: any ByteSource, _ buffer: inout ReadBuffer,
    _ body: (Chunk) throws(AnimatedImageError) -> Bool
  ) throws(AnimatedImageError) {
    // Read only the length and the type of each chunk. In most cases, the range contains a single fcTL.
    var place = range.lowerBound
    while place + 12 <= range.upperBound {
      let (length, type) = try source.withBytes(in: place..<place + 8, buffer: &buffer) {
        (bytes) throws(AnimatedImageError) -> (Int, [UInt8]) in
        guard bytes.byteCount == 8 else { return (-1, []) }
        return (
          Int(UInt32(bigEndian: bytes.load(UInt32.self, at: 0))), (4..<8).map { bytes[$0] }
        )
      }
      guard length >= 0, length <= range.upperBound - place - 12 else { return }
      let chunk = Chunk(type: type, range: place..<place + length + 12)
      guard try body(chunk) else { return }
      place = chunk.range.upperBound
    }
  }
}

extension PNGStructureMap: FrameCopying {
  var numbersFrames: Bool { true }
  var firstFrame: FirstFrameCover { beginsWithStaticImage ? .whole : .anyPart }

  func mayShowCanvas(through frame: FrameControl) -> Bool { frame.blend == .over && !isOpaque }

  /// New frames are stored in the file's pixel format. If that is not possible even with a longer palette, all frames
  /// are encoded again as RGBA.
  func steps(
    for frames: [EditDelays.Kept], _ pictures: SourcePictures, crop: PixelRect, mayReduce: Bool
  ) throws(AnimatedImageError) -> PlannedSteps {
    let image = pictures.image
    let encoder = PNGFormEncoder(image.header)
    let isCropped = crop != PixelRect(image.canvasSize)
    var header = image.header
    header.canvasSize = crop.size
    let room = 1 << Int(min(header.bitDepth, 8))
    var missing: Set<UInt32> = []
    var fits = true
    func note(_ fit: PNGFormEncoder.Fit) {
      switch fit {
      case .fits: break
      case .lacks(let colors): missing.formUnion(colors)
      case .never: fits = false
      }
      if header.palette.count + missing.count > room, !missing.isEmpty { fits = false }
    }
    if isCropped, !beginsWithStaticImage {
      note(encoder.fit(try image.renderStaticBitmap(), in: crop))
    }
    let planner = EditPlanner(pictures, self, crop: crop, encodesAll: isCropped ? .crop : nil)
    let (steps, seam) = try planner.steps(for: frames) { (picture, _, rect, _) in
      if fits { note(encoder.fit(picture, in: rect)) }
      return false
    }
    if fits, !missing.isEmpty {
      // With a longer palette, the static image is compressed again, and damaged pixels of copied frames, whose indices
      // are past the old palette, would get new colours.
      if !isCropped, !beginsWithStaticImage {
        note(encoder.fit(try image.renderStaticBitmap(), in: crop))
      }
      for step in steps where fits && step.drawing == nil {
        fits = try pictures.isIntact(step.source)
      }
    }
    if fits {
      header.palette += missing.sorted()
      return (steps, seam, header)
    }
    header.colorType = 6
    header.bitDepth = header.bitDepth == 16 ? 16 : 8
    header.palette = []
    header.transparency = []
    header.isInterlaced = false
    let other = EditPlanner(pictures, self, crop: crop, encodesAll: .pixelFormat)
    let encoded = try other.steps(for: frames) { (_, _, _, _) in false }
    return (encoded.steps, encoded.seam, header)
  }

  /// Returns whether a chunk of the source of `plan` still applies to the output.
  ///
  /// - Parameter changesNothing: ``EditPlan/changesNothing`` of the plan.
  static func keeps(_ chunk: Chunk, in plan: EditPlan, changesNothing: Bool) -> Bool {
    (changesNothing || !isBound(chunk)) && applies(chunk, to: plan.header, of: plan.image.header)
  }

  /// Returns whether a chunk of a file with the header `source` still applies to a file with `header`.
  static func applies(_ chunk: Chunk, to header: ImageHeader, of source: ImageHeader) -> Bool {
    let dependsOnColors = ["tRNS", "bKGD", "hIST", "sBIT"].contains(chunk.name)
    if header.colorType != source.colorType {
      // A colour profile is either for grey or for colours.
      let changesGrey = [0, 4].contains(header.colorType) != [0, 4].contains(source.colorType)
      return !dependsOnColors && chunk.name != "PLTE" && !(changesGrey && chunk.name == "iCCP")
    }
    // A longer palette is written with its own `tRNS`, and a histogram has as many entries as the palette.
    return header.palette == source.palette || !["tRNS", "hIST"].contains(chunk.name)
  }

  func losesMetadata(_ plan: EditPlan) -> Bool {
    let changesNothing = plan.changesNothing
    return (head + tail).contains { chunk in
      !["PLTE", "tRNS"].contains(chunk.name)
        && !Self.keeps(chunk, in: plan, changesNothing: changesNothing)
    }
  }

  func makeWriter(
    _ plan: EditPlan, _ isCancelled: @escaping @Sendable () -> Bool
  ) -> any EditWriting {
    PNGEditWriter(plan, self, isCancelled)
  }
}
