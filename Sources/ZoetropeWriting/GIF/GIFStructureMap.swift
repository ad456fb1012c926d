/// The positions of the blocks that are copied from a GIF and do not belong to a frame.
struct GIFStructureMap: Sendable {
  /// The number of bytes in the signature, the logical screen descriptor and the global colour table.
  let headCount: Int
  /// The ranges of the comments and other extensions before each frame and after the last frame. Plain text is left
  /// out. Graphic controls and loop counts are left out, too, because they are written anew.
  let extras: [[Range<Int>]]
  /// Whether ``extras`` has extensions that are not read as metadata: neither comments nor blocks with a profile or an
  /// XMP packet.
  let hasOthers: Bool

  /// The bytes between two frames are searched for extensions only if there are at most this many.
  private static let gapLimit = 1 << 24

  init(_ image: AnimatedImage) throws(AnimatedImageError) {
    headCount = 13 + 3 * image.header.palette.count
    var extras: [[Range<Int>]] = []
    var hasOthers = false
    extras.reserveCapacity(image.frames.count + 1)
    var buffer = ReadBuffer()
    var end = headCount
    for frame in image.frames {
      extras.append(
        try Self.extensions(
          in: end..<frame.byteRange.lowerBound, image, &buffer, hasOthers: &hasOthers))
      end = max(end, frame.byteRange.upperBound)
    }
    let rest = image.source.byteCount
    extras.append(
      try Self.extensions(
        in: end..<max(end, min(rest, end + Self.gapLimit)), image, &buffer, hasOthers: &hasOthers))
    (self.extras, self.hasOthers) = (extras, hasOthers)
  }

  /// Returns the ranges of the extensions to keep. Only extensions at the start of `range` are found. Adjacent ranges
  /// are joined. Sets `hasOthers` if one of them is not read as metadata.
  private static func extensions(
    in range: Range<Int>, _ image: AnimatedImage, _ buffer: inout ReadBuffer,
    hasOthers: inout Bool
  ) throws(AnimatedImageError) -> [Range<Int>] {
    guard !range.isEmpty, range.count <= gapLimit else { return [] }
    return try image.source.withBytes(in: range, buffer: &buffer) {
      (bytes) throws(AnimatedImageError) in
      var found: [Range<Int>] = []
      var place = 0
      while place + 2 < bytes.byteCount, bytes[place] == 0x21 {
        let start = place
        let label = bytes[place + 1]
        // Ignore an extension that is cut off. Nothing follows it.
        guard let end = bytes.endOfSubBlocks(at: start + 2) else { break }
        place = end
        let isLoop = label == 0xff && bytes.hasLoopIdentifier(at: start + 2)
        guard label != 0xf9, label != 0x01, !isLoop else { continue }
        let name = label == 0xff ? applicationName(bytes, at: start + 2) : ""
        if label != 0xfe, !["ICCRGBG1012", "XMP DataXMP"].contains(name) { hasOthers = true }
        let piece = range.lowerBound + start..<range.lowerBound + place
        if let last = found.last, last.upperBound == piece.lowerBound {
          found[found.count - 1] = last.lowerBound..<piece.upperBound
        } else {
          found.append(piece)
        }
      }
      return found
    }
  }

  /// Returns the name of the application block whose first sub-block is at `place`, or an empty string if it has none.
  private static func applicationName(_ bytes: borrowing RawSpan, at place: Int) -> String {
    guard bytes[place] == 11, place + 12 <= bytes.byteCount else { return "" }
    var name: [UInt8] = []
    name.append(copying: bytes.extracting(place + 1..<place + 12))
    return String(decoding: name, as: UTF8.self)
  }
}

extension GIFStructureMap: FrameCopying {
  /// The greatest number of new frames whose colours are reduced while other frames are copied. A cut has one such
  /// frame, or a few where frames are cleared. More of them mean that frames are reversed or thinned out, and palettes
  /// that all frames share suit them better.
  private static let reducedLimit = 16

  var numbersFrames: Bool { false }
  var firstFrame: FirstFrameCover { .inside }

  func mayShowCanvas(through frame: FrameControl) -> Bool { frame.transparentIndex != nil }

  func steps(
    for frames: [EditDelays.Kept], _ pictures: SourcePictures, crop: PixelRect, mayReduce: Bool
  ) throws(AnimatedImageError) -> PlannedSteps {
    guard max(crop.width, crop.height) <= 0xffff else {
      throw AnimatedImageError(
        .unwritable, "a canvas of \(crop.size) is too large for a GIF", format: .gif)
    }
    let header = pictures.image.header
    let encoder = GIFFrameEncoder(globalTable: header.palette)
    let isCropped = crop != PixelRect(header.canvasSize)
    let planner = EditPlanner(pictures, self, crop: crop, encodesAll: isCropped ? .crop : nil)
    // The frames of the source whose new frames have too many colours.
    var reduced: [Int] = []
    let (steps, seam) = try planner.steps(for: frames) {
      (picture, below, rect, source) throws(AnimatedImageError) in
      let count = try encoder.colorCount(
        of: picture, over: below, in: rect, isCancelled: pictures.isCancelled)
      guard count == nil else { return false }
      reduced.append(source)
      guard mayReduce, !isCropped, reduced.count <= Self.reducedLimit else {
        throw GIFFrameEncoder.tooManyColors.inFrame(reduced[0])
      }
      return true
    }
    // If hardly any frame is copied, a palette for each new frame saves little, and shared palettes flicker less.
    if let first = reduced.first, reduced.count > steps.count(where: { $0.drawing == nil }) {
      throw GIFFrameEncoder.tooManyColors.inFrame(first)
    }
    return (steps, seam, header)
  }

  func makeWriter(
    _ plan: EditPlan, _ isCancelled: @escaping @Sendable () -> Bool
  ) -> any EditWriting {
    GIFEditWriter(plan, self, isCancelled)
  }
}
