package import Zoetrope

/// A format for tests only: farbfeld pictures of one size, one after another, each shown for a tenth of a second. In a
/// second format, which can also be written, the word "farbfilm" takes the place of "farbfeld".
///
/// This file and ``isAdded`` are all that a format needs.
///
///     size   field
///        8   "farbfeld"
///        8   width and height, most significant byte first
///     8 * n  the pixels: red, green, blue and alpha of 16 bits each, most significant byte first
package struct FarbfeldCodec: FormatCodec {
  /// Adds a row for each of the two formats when it is first read.
  package static let isAdded: Bool = {
    FormatTable.add(FarbfeldCodec())
    FormatTable.add(FarbfeldCodec(.farbfilm))
    return true
  }()

  fileprivate let format: AnimationFormat

  package init(_ format: AnimationFormat = .farbfeld) { self.format = format }

  fileprivate var magic: [UInt8] { Array(format.rawValue.utf8) }
  fileprivate static let headCount = 16

  package var name: String { format.rawValue }
  /// None, so that the completions of the tool do not depend on which test ran before.
  package var fileExtensions: [String] { [] }
  package var formats: [AnimationFormat] { [format] }
  package var signatures: [[UInt8?]] { [magic] }

  package func makeScanner(_ limits: DecodingLimits) -> any Scanning {
    FarbfeldScanner(codec: self, budget: WorkBudget(limits: limits, format: format))
  }

  package func playCount(_ count: UInt32, of format: AnimationFormat) -> PlayCount { .once }

  package func beginsFrame(_ bytes: borrowing RawSpan) -> Bool {
    bytes.byteCount >= 8 && bytes.extracting(first: 8).hasSameBytes(as: magic.rawBytes)
  }

  package func makeDecoder(_ options: DecodingOptions) -> any FrameDecoding { FarbfeldDecoder() }

  package func makeArrival(
    _ control: FrameControl, _ header: ImageHeader, _ options: DecodingOptions
  ) throws(AnimatedImageError) -> any ArrivalDecoding { try FarbfeldArrival(control) }

  package func decodedPixelSize(_ header: ImageHeader, _ options: DecodingOptions) -> Int { 8 }

  package func workingByteCount(for byteCount: Int, _ options: DecodingOptions) -> Int { 0 }

  package func writable(as format: AnimationFormat) -> WritableFormat? {
    guard format == .farbfilm else { return nil }
    return WritableFormat(
      hasPalettes: false, framesCanClear: true, countsCentiseconds: false, hasPoster: false,
      maximumPlays: 1
    ) { (_) throws(AnimatedImageError) in FarbfeldEncoder(codec: self) }
  }

  /// Returns the bytes of a frame whose pixels have the colours `color(x, y)`.
  fileprivate func frame(_ size: PixelSize, _ color: (_ x: Int, _ y: Int) -> RGBA) -> [UInt8] {
    var bytes = magic
    for side in [size.width, size.height] {
      bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: side >> $0) }
    }
    for y in 0..<size.height {
      for x in 0..<size.width {
        let color = color(x, y)
        for sample in [color.red, color.green, color.blue, color.alpha] {
          bytes += [sample, sample]
        }
      }
    }
    return bytes
  }
}

extension AnimationFormat {
  /// The format of ``FarbfeldCodec`` that can only be read.
  package static let farbfeld = AnimationFormat(rawValue: "farbfeld")
  /// The format of ``FarbfeldCodec`` that can be written.
  package static let farbfilm = AnimationFormat(rawValue: "farbfilm")
}

/// Writes each frame as the whole canvas.
private struct FarbfeldEncoder: AnimationEncoding {
  let codec: FarbfeldCodec

  var isDeep: Bool { false }
  var canDisposeToBackground: Bool { false }
  var end: [UInt8] { [] }
  var workingByteCount: Int { 0 }

  func start(frameCount: Int) -> [UInt8] { [] }
  func count(_ frameCount: Int) -> (bytes: [UInt8], offset: Int)? { nil }
  func poster(_ coded: CodedFrame) -> [UInt8] { [] }
  func frame(
    _ coded: CodedFrame, rect: PixelRect, delay: FrameDelay, disposal: DisposalMethod
  ) -> [UInt8] { coded.bytes }
  func makeFrameEncoder(effort: EncodingEffort?) -> any FrameCompressing {
    FarbfeldCompressor(codec)
  }
}

private final class FarbfeldCompressor: FrameCompressing {
  private let codec: FarbfeldCodec

  init(_ codec: FarbfeldCodec) { self.codec = codec }

  func encode(
    _ work: FrameWork, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CodedFrame {
    let picture = work.picture
    return CodedFrame(
      bytes: codec.frame(picture.size) { x, y in picture.pixels(row: y)[x] }, blend: .source)
  }
}

private struct FarbfeldScanner: Scanning {
  private let codec: FarbfeldCodec
  private(set) var image = ScannedImage()
  private(set) var isAtEnd = false
  /// The start of a frame, until it is complete.
  private var head: [UInt8] = []
  /// The frame whose pixels are being read.
  private var openFrame: FrameControl?
  private var budget: WorkBudget

  init(codec: FarbfeldCodec, budget: WorkBudget) { (self.codec, self.budget) = (codec, budget) }

  /// A file may end behind any frame.
  var hasEndMarker: Bool { openFrame == nil && head.isEmpty && !image.frames.isEmpty }
  var isCanvasKnown: Bool { image.header != nil }

  var arrivingFrame: FrameControl? {
    var frame = openFrame
    frame?.end(at: image.byteCount)
    return frame
  }

  /// Bytes of pixels still to come.
  var skippableByteCount: Int {
    guard let openFrame else { return 0 }
    let count = FarbfeldCodec.headCount + 8 * openFrame.rect.size.area
    return openFrame.byteRange.lowerBound + count - image.byteCount
  }

  mutating func skip(_ count: Int) {
    image.byteCount += count
    guard var frame = openFrame, skippableByteCount == 0 else { return }
    frame.end(at: image.byteCount)
    image.frames.append(frame)
    openFrame = nil
  }

  mutating func passOver(_ count: Int) -> Bool {
    guard count < skippableByteCount else { return false }
    skip(count)
    return true
  }

  mutating func feed(_ bytes: borrowing RawSpan) throws(AnimatedImageError) {
    var position = 0
    while position < bytes.byteCount {
      let rest = bytes.byteCount - position
      if openFrame != nil {
        let count = min(skippableByteCount, rest)
        skip(count)
        position += count
      } else {
        let count = min(FarbfeldCodec.headCount - head.count, rest)
        head.append(copying: bytes.extracting(position..<position + count))
        image.byteCount += count
        position += count
        if head.count == FarbfeldCodec.headCount { try beginFrame() }
      }
    }
  }

  private mutating func beginFrame() throws(AnimatedImageError) {
    let start = image.byteCount - FarbfeldCodec.headCount
    func number(at offset: Int) -> Int {
      Int(UInt32(bigEndian: head.rawBytes.load(UInt32.self, at: offset)))
    }
    let size = PixelSize(width: number(at: 8), height: number(at: 12))
    guard codec.beginsFrame(head.rawBytes), !size.isEmpty,
      size == image.header?.canvasSize ?? size
    else {
      throw AnimatedImageError(
        .malformed, "no picture of the same size", format: codec.format, byteOffset: start)
    }
    if image.header == nil {
      try budget.checkCanvas(size, at: start)
      image.header = ImageHeader(format: codec.format, canvasSize: size)
    }
    let index = image.frames.count
    try budget.charge(frame: index, area: size.area, at: start)
    openFrame = FrameControl(
      index: index, rect: PixelRect(size), delay: FrameDelay(numerator: 1, denominator: 10),
      blend: .source, isIndependent: true, byteRange: start..<start)
    head = []
  }

  mutating func keepFrames(_ count: Int) {
    image.frames.removeLast(max(image.frames.count - count, 0))
  }

  mutating func finish() throws(AnimatedImageError) {
    guard image.header != nil else {
      throw AnimatedImageError(.truncated, "no picture", byteOffset: image.byteCount)
    }
    if !hasEndMarker { image.note(.cutBlock, "the data ends in a frame", at: image.byteCount) }
    image.cutFrame = arrivingFrame
    openFrame = nil
    isAtEnd = true
  }
}

extension FramePixels {
  /// Makes room for the pixels of `size` as they are stored; none is valid yet.
  fileprivate func prepareFarbfeld(_ size: PixelSize) throws(AnimatedImageError) {
    (content.width, content.height, content.validPixels) = (size.width, size.height, 0)
    content.layout = .rgba16
    content.bytesPerRow = 8 * size.width
    damage = nil
    try reserve(byteCount: 8 * size.area)
  }
}

private struct FarbfeldDecoder: FrameDecoding {
  mutating func decode(
    _ control: FrameControl, header: ImageHeader, bytes: borrowing RawSpan, into pixels: FramePixels
  ) throws(AnimatedImageError) {
    try pixels.prepareFarbfeld(control.rect.size)
    let samples = bytes.extracting(droppingFirst: min(FarbfeldCodec.headCount, bytes.byteCount))
    pixels.store(samples)
    pixels.content.validPixels = samples.byteCount / 8
    guard !pixels.content.isComplete else { return }
    pixels.damage = Damage(
      Damage.Kind("farbfeld.truncated", isTolerated: false), "pixels are missing",
      frameIndex: control.index, byteOffset: control.byteRange.upperBound,
      validRows: pixels.content.validPixels / control.rect.width)
  }
}

private struct FarbfeldArrival: ArrivalDecoding {
  let pixels = FramePixels()
  private(set) var progress = ArrivalProgress()
  private var byteCount = 0

  init(_ control: FrameControl) throws(AnimatedImageError) {
    try pixels.prepareFarbfeld(control.rect.size)
  }

  mutating func feed(_ bytes: borrowing RawSpan) {
    let head = min(max(FarbfeldCodec.headCount - byteCount, 0), bytes.byteCount)
    let place = byteCount + head - FarbfeldCodec.headCount
    if head < bytes.byteCount {
      pixels.store(bytes.extracting(droppingFirst: head), at: place)
    }
    byteCount += bytes.byteCount
    let valid = max(byteCount - FarbfeldCodec.headCount, 0) / 8
    pixels.content.validPixels = valid
    progress.completeRows = valid / pixels.content.width
    progress.shownRows = progress.completeRows
    progress.completePasses = pixels.content.isComplete ? 1 : 0
  }
}

/// A file of ``FarbfeldCodec`` with different pixels in each frame.
package struct FarbfeldFilm: Sendable {
  package let size: PixelSize
  package let frameCount: Int

  package init(size: PixelSize = PixelSize(width: 12, height: 9), frameCount: Int = 6) {
    (self.size, self.frameCount) = (size, frameCount)
  }

  package func color(_ x: Int, _ y: Int, frame: Int) -> RGBA {
    RGBA(
      red: UInt8(truncatingIfNeeded: 20 * x), green: UInt8(truncatingIfNeeded: 25 * y),
      blue: UInt8(truncatingIfNeeded: 40 * frame),
      alpha: (x + y + frame).isMultiple(of: 5) ? 0 : 255)
  }

  package var bytes: [UInt8] {
    (0..<frameCount).flatMap { frame in
      FarbfeldCodec().frame(size) { x, y in color(x, y, frame: frame) }
    }
  }

  /// Bytes of one frame.
  package var frameByteCount: Int { FarbfeldCodec.headCount + 8 * size.area }

  /// Whether `bitmap`, 8-bit RGBA, shows frame `index`.
  package func isShown(by bitmap: Bitmap, _ index: Int) -> Bool {
    guard bitmap.size == size else { return false }
    return (0..<size.height).allSatisfy { y in
      let row = bitmap.pixels(row: y)
      return (0..<size.width).allSatisfy { row[$0] == color($0, y, frame: index) }
    }
  }
}
