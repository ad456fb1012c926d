/// The result of scanning a file. With its index, any frame of the file can be decoded from the bytes of that frame and
/// of the frames it is drawn on. The index contains no pixels.
///
/// Create an index once, where you have the whole file, and store its ``bytes`` with the file. When a remote file is
/// opened with its index, no bytes have to be read to find the frames.
///
/// ```swift
/// let data = ImageIndex(of: try AnimatedImage(contentsOf: "party.gif")).bytes
/// let image = try await RemoteImage(reading: remote, index: ImageIndex(bytes: data))
/// ```
///
/// An index takes about 20 bytes per frame, plus the metadata. The index contains the length of the file but nothing
/// else that identifies the file. Store the index together with an ETag or another tag that changes with the file.
public struct ImageIndex: Sendable, Hashable {
  package let scan: ScannedImage
  package let header: ImageHeader
  package let byteCount: Int

  package var format: AnimationFormat { header.format }
  package var canvasSize: PixelSize { header.canvasSize }
  package var playCount: PlayCount { scan.playCount }
  package var frames: [FrameControl] { scan.frames }

  /// Creates the index of an opened image, without reading the file.
  public init(of image: AnimatedImage) {
    scan = image.scanned
    header = image.header
    byteCount = image.byteCount
  }

  // MARK: - Storing

  // A stored index consists of the magic number, the version (4 bytes), a record that begins with the size of the file,
  // and the checksum (8 bytes). Numbers outside the record are little-endian.
  private static let magic = Array("ZTINDEX\n".utf8)
  /// The version of the stored form. Increment the version when the record changes, or when a scanner's result for any
  /// file changes; `CacheVersionTests` fails until you do.
  static let version: UInt32 = 1
  private static let headCount = magic.count + 4
  /// The hash that computes the checksum. Its key is not secret, so that every process computes the same checksum. The
  /// checksum detects damage, not forgery.
  private static let checksum = HashSecret(
    (0..<HashSecret.byteCount).map {
      UInt8(truncatingIfNeeded: (UInt64($0) &+ 1) &* 0x9e37_79b9_7f4a_7c15 >> 56)
    })

  /// The bytes to store for this index. An index has the same bytes on all machines. Computing them takes time linear
  /// in the number of frames.
  public var bytes: [UInt8] {
    var record = RecordWriter()
    record.put(byteCount)
    record.put(scan, header)
    return Self.sealed(Self.magic + Self.bytes(of: Self.version) + record.bytes)
  }

  /// Returns `content` followed by its checksum.
  static func sealed(_ content: [UInt8]) -> [UInt8] {
    content + bytes(of: checksum.hash64(content.rawBytes))
  }

  /// Creates an index from its stored bytes.
  ///
  /// The bytes may come from an untrusted source: an index is rejected if it could cause failures that a damaged file
  /// cannot cause. A forged index leads to wrong pictures, just as a forged file does.
  ///
  /// - Throws: `invalidImageIndex` if the bytes are not an intact index of this version.
  public init(bytes: [UInt8]) throws(AnimatedImageError) {
    func invalid(_ detail: String) -> AnimatedImageError {
      AnimatedImageError(.invalidImageIndex, detail)
    }
    let end = bytes.count - 8
    guard end >= Self.headCount, bytes.starts(with: Self.magic) else {
      throw invalid("the \(bytes.count) bytes are not an image index")
    }
    let version = bytes[Self.magic.count..<Self.headCount].reversed().reduce(UInt32(0)) {
      $0 << 8 | UInt32($1)
    }
    guard version == Self.version else {
      throw invalid(
        "the index has version \(version), but this library reads version \(Self.version)")
    }
    let content = Array(bytes[..<end])
    guard Self.sealed(content) == bytes else {
      throw invalid("the checksum of the index is wrong")
    }
    var record = RecordReader(content, from: Self.headCount)
    byteCount = record.int()
    guard var scan = record.image(), let header = scan.header else {
      throw invalid("the contents of the index are damaged")
    }
    scan.byteCount = byteCount
    if let fault = scan.fault(in: byteCount) { throw invalid(fault) }
    self.scan = scan
    self.header = header
  }

  private static func bytes(of number: some FixedWidthInteger) -> [UInt8] {
    (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }

  /// Throws an error if the file exceeds `limits`. Scanning the file throws the same error, except where a scanner keeps
  /// the frames before the first one that is too large.
  package func check(_ limits: DecodingLimits) throws(AnimatedImageError) {
    func check(
      _ kind: LimitExcess.Kind, _ found: Int, _ allowed: Int
    ) throws(AnimatedImageError) {
      guard found > allowed else { return }
      throw .exceeding(kind, found: found, allowed: allowed, format: format)
    }
    // The canvas has an upper bound even if `limits` has none: no memory can hold a larger canvas.
    let canvasPixels = min(limits.canvasPixels, 1 << 40)
    try check(.canvasPixels, canvasSize.area, canvasPixels)
    try check(.frameCount, frames.count, limits.frameCount)
    var pixels = 0
    for frame in frames {
      try check(.canvasPixels, frame.rect.size.area, canvasPixels)
      pixels = pixels.addingClamped(frame.rect.size.area)
    }
    try check(.pixelsPerPlay, pixels, limits.pixelsPerPlay)
  }
}

extension AnimatedImage {
  /// The result of scanning the file, reconstructed from the image.
  var scanned: ScannedImage {
    var scan = ScannedImage()
    scan.header = header
    scan.frames = frames
    scan.staticImage = staticImage
    scan.storedLoopCount = storedLoopCount
    scan.damage = damage
    scan.metadata = metadata
    scan.byteCount = byteCount
    return scan
  }
}

extension ScannedImage {
  /// Returns the reason why no scanner could have produced this scan from a file of `byteCount` bytes, or nil if a
  /// scanner could have produced it.
  fileprivate func fault(in byteCount: Int) -> String? {
    guard let header, byteCount >= 0 else { return "the file size in the index is negative" }
    let codec = header.codec
    guard codec.isPossible(header), header.palette.count <= 256 else {
      return "the header in the index is impossible"
    }
    func isPossible(_ frame: FrameControl) -> Bool {
      frame.byteRange.upperBound <= byteCount && frame.localPaletteCount <= 256
        && min(frame.rect.x, frame.rect.y, frame.rect.width, frame.rect.height) >= 0
        && codec.isPossible(frame, under: header)
    }
    if metadata.chromaticities.map({ $0.count != 8 }) ?? false {
      return "the index does not have eight chromaticities"
    }
    guard !frames.isEmpty else { return "the index has no frames" }
    var end = 0
    for (index, frame) in frames.enumerated() {
      guard frame.index == index, frame.byteRange.lowerBound >= end, isPossible(frame) else {
        return "frame \(index) in the index is impossible"
      }
      end = frame.byteRange.upperBound
    }
    if let staticImage, !codec.hasStaticImages || !isPossible(staticImage) {
      return "the static image in the index is impossible"
    }
    return nil
  }
}
