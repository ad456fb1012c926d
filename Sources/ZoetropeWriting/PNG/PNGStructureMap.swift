/// The positions of the chunks that are copied from a PNG and do not belong to a frame.
struct PNGStructureMap: Sendable {
  /// A chunk that is copied.
  struct Chunk: Sendable {
    let type: [UInt8]
    /// The range of the whole chunk, including length and checksum.
    let range: Range<Int>
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
      try Self.forEachChunk(in: gap, image.source, &buffer) { (type, chunk) in
        let isOwn = ["acTL", "fcTL", "fdAT", "IDAT", "IEND"].contains {
          type.elementsEqual($0.utf8)
        }
        if isOwn { return !type.elementsEqual("IEND".utf8) }
        if isHead {
          head.append(Chunk(type: type, range: chunk))
        } else if type[0] & 0x20 != 0 {
          tail.append(Chunk(type: type, range: chunk))
        }
        return true
      }
      isHead = false
      end = max(end, range.upperBound)
    }
  }

  /// Calls `body` with the type and the range of each whole chunk in `range`, until it returns false.
  static func forEachChunk(
    in range: Range<Int>, _ source: any ByteSource, _ buffer: inout ReadBuffer,
    _ body: (_ type: [UInt8], _ chunk: Range<Int>) throws(AnimatedImageError) -> Bool
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
      let chunk = place..<place + length + 12
      guard try body(type, chunk) else { return }
      place = chunk.upperBound
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
    let other = EditPlanner(pictures, self, crop: crop, encodesAll: .form)
    let encoded = try other.steps(for: frames) { (_, _, _, _) in false }
    return (encoded.steps, encoded.seam, header)
  }

  func makeWriter(
    _ plan: EditPlan, _ isCancelled: @escaping @Sendable () -> Bool
  ) -> any EditWriting {
    PNGEditWriter(plan, self, isCancelled)
  }
}
