internal import Synchronization

/// Writes the blocks of a GIF file. In each frame, the changed pixels must have at most 256 colours, and no pixel may
/// be partly transparent.
///
/// The global colour table is the one that the request contains, if any. Otherwise it consists of all opaque colours of
/// the animation, if a survey found at most 255 of them, or 256 and no transparent pixel. A frame with a colour that is
/// not in the global table has a local table.
struct GIFAnimationEncoder: AnimationEncoding {
  private let request: AnimationRequest
  /// The colours of the global table, or an empty array if there is no global table. A table made from a survey is
  /// padded to a power of two. It has at least one entry that no pixel uses, unless there are 256 colours.
  private let table: [UInt32]
  /// Whether every further frame is written with a graphic control. Some players draw a frame without a graphic control
  /// as if it had the control of the previous frame.
  private var needsControls: Bool

  /// The maximum number of plays. The loop block stores the number of repeats, which is one less, in 16 bits.
  static let maximumPlays = 65_536
  /// The key of comments, which are the only texts of a GIF.
  static let textKey = "Comment"

  /// Creates the encoder of one file.
  ///
  /// - Throws: `unwritable` if the GIF format cannot represent the animation.
  init(_ request: AnimationRequest) throws(AnimatedImageError) {
    func refusal(_ detail: String) -> AnimatedImageError {
      AnimatedImageError(.unwritable, detail, format: .gif)
    }
    let size = request.canvasSize
    guard max(size.width, size.height) <= 0xffff else {
      throw refusal("a canvas of \(size) is too large for a GIF")
    }
    if case .finite(let plays) = request.playCount, !(1...Self.maximumPlays).contains(plays) {
      throw refusal("a GIF cannot store a play count of \(plays)")
    }
    guard !request.hasPoster else {
      throw refusal("a GIF cannot store a static image besides its frames")
    }
    if let survey = request.survey {
      guard survey.fits8Bits else { throw refusal("a GIF cannot store 16 bits per channel") }
      guard survey.isOpaqueOrClear else { throw Self.partialAlpha }
    }
    self.request = request
    needsControls = !request.omitsEmptyControls
    if let table = request.colorTable {
      self.table = table
      return
    }
    var colors: [UInt32] = []
    if let survey = request.survey, let found = survey.colors {
      colors = found.filter { color in color >> 24 == 255 }
    }
    // The table also needs one index for unchanged pixels, unless each frame can draw all pixels of its rectangle.
    guard (1...(request.survey?.isOpaque == true ? 256 : 255)).contains(colors.count) else {
      table = []
      return
    }
    let count = min(1 << (Int.bitWidth - colors.count.leadingZeroBitCount), 256)
    table = colors + [UInt32](repeating: RGBA.black.word, count: count - colors.count)
  }

  static let partialAlpha = AnimatedImageError(
    .unwritable, "a GIF cannot store partly transparent pixels", format: .gif)

  var isDeep: Bool { false }

  var canDisposeToBackground: Bool { true }

  func start(frameCount: Int) -> [UInt8] {
    var bytes = Array("GIF89a".utf8)
    bytes += UInt16(request.canvasSize.width).littleEndianBytes
    bytes += UInt16(request.canvasSize.height).littleEndianBytes
    let bits = table.isEmpty ? 1 : table.count.trailingZeroBitCount
    bytes += [
      (table.isEmpty ? 0 : 0x80) | UInt8(bits - 1), request.carried.backgroundIndex,
      request.carried.pixelAspect,
    ]
    for color in table { bytes += color.rgbBytes }
    bytes += GIFFrameEncoder.loopBlock(request.playCount)
    for text in request.metadata?.texts ?? [] where text.key == Self.textKey {
      bytes += GIFFrameEncoder.extensionBlock([GIFExtension.comment], Array(text.value.utf8))
    }
    if let profile = request.metadata?.iccProfile {
      bytes += GIFFrameEncoder.extensionBlock(
        [GIFExtension.application, 11] + Array("ICCRGBG1012".utf8), profile)
    }
    if let xmp = request.metadata?.xmpForGIF {
      // The packet is not split into sub-blocks. A reader that interprets the bytes of the packet as block lengths ends
      // up somewhere in the magic trailer, whose bytes lead it to the terminator from any position (XMP specification,
      // part 3, 1.1.2).
      bytes += [0x21, GIFExtension.application, 11] + Array("XMP DataXMP".utf8)
      bytes += Array(xmp.utf8) + [1] + (0...255).reversed() + [0]
    }
    return bytes + request.carried.head
  }

  /// Returns whether `metadata` contains anything that ``start(frameCount:)`` does not write, apart from the name of the
  /// colour profile and the application blocks, which belong to the GIF from which they were read.
  static func losesMetadata(_ metadata: AnimationMetadata) -> Bool {
    var rest = metadata
    rest.applicationBlocks = []
    if rest.xmpForGIF != nil { rest.xmp = nil }
    (rest.iccProfile, rest.iccProfileName) = (nil, nil)
    rest.texts.removeAll { $0.key == textKey }
    return rest != AnimationMetadata()
  }

  func count(_ frameCount: Int) -> (bytes: [UInt8], offset: Int)? { nil }

  func poster(_ coded: CodedFrame) -> [UInt8] { [] }

  mutating func frame(
    _ coded: CodedFrame, rect: PixelRect, delay: FrameDelay, disposal: DisposalMethod
  ) -> [UInt8] {
    let centiseconds = UInt64(delay.numerator) * 100 / UInt64(delay.denominator)
    if coded.transparentIndex != nil || disposal != .keep || centiseconds > 0 {
      needsControls = true
    }
    guard needsControls else { return Array(coded.bytes.dropFirst(8)) }
    return coded.bytes(delay: UInt16(clamping: centiseconds), disposal: disposal)
  }

  var end: [UInt8] { [0x3b] }

  func makeFrameEncoder(effort: EncodingEffort?) -> any FrameCompressing {
    GIFFrameCompressor(globalTable: table, effort: effort ?? request.effort)
  }

  // This is the memory for the difference between two pictures, for the indices of the difference, and for the LZW
  // compressor.
  var workingByteCount: Int { 7 * request.canvasSize.area + 1 << 18 }
}

extension CodedFrame {
  /// The transparent index of a frame that ``GIFFrameCompressor`` encoded, or nil if it has none.
  fileprivate var transparentIndex: UInt8? { bytes[3] & 1 != 0 ? bytes[6] : nil }

  /// Returns the bytes of the frame, with its provisional graphic control replaced by a control with `delay` and
  /// `disposal`.
  package func bytes(delay: UInt16, disposal: DisposalMethod) -> [UInt8] {
    GIFFrameEncoder.control(
      delay: delay, disposal: disposal, transparentIndex: transparentIndex) + bytes.dropFirst(8)
  }
}

/// Compresses the frames of a GIF. Each compressed frame begins with a provisional graphic control.
package final class GIFFrameCompressor: FrameCompressing, @unchecked Sendable {
  // Sendable: the two encoders are used only by `encode`, and `isBusy` ensures that only one call to `encode`
  // runs at a time.
  private let encoder: GIFFrameEncoder
  /// The search for the shortest encoding, or nil if each frame is encoded in only one way.
  private let search: GIFFrameSearch?
  private let isBusy = Atomic<Bool>(false)

  /// Creates a compressor.
  ///
  /// - Parameter globalTable: The colours of the file's global table, all opaque, as `RGBA.word`. The array is empty if
  ///   there is no global table.
  package init(globalTable: [UInt32], effort: EncodingEffort) {
    encoder = GIFFrameEncoder(globalTable: globalTable)
    let depth: GIFFrameSearch.Depth? =
      switch effort.kind {
      case .fast: nil
      case .balanced: .estimate
      case .small: .all
      }
    search = depth.map { GIFFrameSearch(globalTable: globalTable, depth: $0) }
  }

  package func encode(
    _ work: FrameWork, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CodedFrame {
    precondition(!isBusy.exchange(true, ordering: .acquiring), "two threads use one encoder")
    defer { isBusy.store(false, ordering: .releasing) }
    if let search {
      return CodedFrame(bytes: try search.code(work, isCancelled: isCancelled), blend: .over)
    }
    for y in work.rect.y..<work.rect.maxY {
      try work.rect.poll(row: y, isCancelled)
      let row = work.picture.row(y)
      for x in work.rect.x..<work.rect.maxX where (1...254).contains(row[x &* 4 &+ 3]) {
        throw GIFAnimationEncoder.partialAlpha
      }
    }
    var bytes: [UInt8] = []
    try encoder.append(
      work.picture, over: work.base,
      .init(work.rect, disposal: work.isCleared ? .background : .keep, delay: 0), to: &bytes,
      isCancelled: isCancelled)
    return CodedFrame(bytes: bytes, blend: .over)
  }
}
