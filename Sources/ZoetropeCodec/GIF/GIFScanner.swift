/// Reads the block structure of a GIF (GIF89a sections 15 to 27), fed in pieces.
///
/// Browsers differ on damaged files; this follows Chromium and keeps more where a complete frame is
/// in the file. Each deviation is noted as a ``Damage``.
package struct GIFScanner: Scanning {
  package internal(set) var image = ScannedImage()
  package internal(set) var isAtEnd = false

  enum State: Sendable {
    case header
    case globalPalette(entries: Int)
    case introducer
    case extensionLabel
    case extensionLength
    case extensionBody(remaining: Int)
    case descriptor
    case localPalette(remaining: Int)
    case minimumCodeSize
    case imageData(remaining: Int)
    case trailer
  }

  var state = State.header
  var collector = ByteCollector()
  var control: GIFGraphicControl?
  var extensionBlock: GIFExtension?
  /// The frame being read; its byte range is set when its data ends.
  var openFrame: FrameControl?
  var blockOffset = 0
  var independence = IndependenceTracker()
  var metadataBudget: MetadataBudget
  var workBudget: WorkBudget
  /// What another thread found in the bytes that are fed now.
  private var chains = SubBlockChains()
  /// The screen size of the header, before the first frame made it grow.
  var screen = PixelSize(width: 0, height: 0)

  package init(limits: DecodingLimits = .default) {
    metadataBudget = MetadataBudget(limits: limits)
    workBudget = WorkBudget(limits: limits, format: .gif)
  }

  package static func lookAhead(in bytes: borrowing RawSpan) -> SubBlockChains {
    SubBlockChains(in: bytes)
  }

  package mutating func feed(
    _ bytes: borrowing RawSpan, knowing chains: SubBlockChains
  ) throws(AnimatedImageError) {
    self.chains = chains
    defer { self.chains = SubBlockChains() }
    try feed(bytes)
  }

  package mutating func feed(_ bytes: borrowing RawSpan) throws(AnimatedImageError) {
    var position = 0
    let start = image.byteCount
    while position < bytes.byteCount, !isAtEnd {
      if case .trailer = state {
        note(.trailingData, "bytes after the trailer", at: start + position)
        isAtEnd = true
      } else {
        try step(bytes, at: &position, base: start)
        image.byteCount = start + position
      }
    }
    // What lies behind the end was not consumed, however much of it came in this piece.
    if !isAtEnd { image.byteCount = start + bytes.byteCount }
  }

  /// Reads one record, or as much of it as there is.
  private mutating func step(
    _ bytes: borrowing RawSpan, at position: inout Int, base: Int
  ) throws(AnimatedImageError) {
    switch state {
    case .header:
      guard collector.collect(13, from: bytes, at: &position) else { return }
      try readHeader()
    case .globalPalette(let entries):
      guard collector.collect(entries * 3, from: bytes, at: &position) else { return }
      image.header?.palette = Self.palette(collector.bytes)
      next(.introducer)
    case .introducer:
      blockOffset = base + position
      if readPlainControl(bytes, at: &position) { return }
      let introducer = bytes[position]
      position += 1
      readIntroducer(introducer)
    case .extensionLabel:
      extensionBlock = GIFExtension(
        label: bytes[position], offset: blockOffset,
        byteLimit: metadataBudget.limits.metadataBytes)
      position += 1
      next(.extensionLength)
    case .extensionLength:
      let size = Int(bytes[position])
      position += 1
      if size == 0 {
        endExtension()
      } else {
        extensionBlock?.beginBlock(size: size)
        next(.extensionBody(remaining: size))
      }
    case .extensionBody(let remaining):
      let count = min(remaining, bytes.byteCount - position)
      for offset in position..<position + count { extensionBlock?.append(bytes[offset]) }
      position += count
      next(count == remaining ? .extensionLength : .extensionBody(remaining: remaining - count))
    case .descriptor:
      guard let descriptor = descriptor(in: bytes, at: &position) else { return }
      try read(descriptor)
    case .localPalette(let remaining):
      // The decoder reads the colours, which lie beside the pixels; here they are passed over.
      let count = min(remaining, bytes.byteCount - position)
      position += count
      next(count == remaining ? .minimumCodeSize : .localPalette(remaining: remaining - count))
    case .minimumCodeSize:
      position += 1
      next(.imageData(remaining: 0))
    case .imageData(let remaining):
      skipImageData(bytes, at: &position, remaining: remaining, base: base)
    case .trailer:
      break
    }
  }

  mutating func next(_ state: State) {
    collector.reset()
    self.state = state
  }

  /// Passes over sub-blocks until the terminator, where another thread has not done so already.
  private mutating func skipImageData(
    _ bytes: borrowing RawSpan, at position: inout Int, remaining: Int, base: Int
  ) {
    let start = position + remaining
    let chain = chains.chain(from: start) ?? SubBlockChain(in: bytes, from: start)
    if chain.isTerminated {
      position = chain.end
      endFrame(at: base + chain.end)
    } else {
      position = bytes.byteCount
      next(.imageData(remaining: chain.end - bytes.byteCount))
    }
  }

  /// Notes a deviation.
  mutating func note(
    _ kind: Damage.Kind, _ detail: String, frame: Int? = nil, at offset: Int
  ) {
    image.note(kind, detail, frame: frame, at: offset)
  }

  /// Palette bytes as words, opaque.
  static func palette(_ bytes: [UInt8]) -> [UInt32] {
    stride(from: 0, to: bytes.count - 2, by: 3).map {
      RGBA(red: bytes[$0], green: bytes[$0 + 1], blue: bytes[$0 + 2]).word
    }
  }
}
