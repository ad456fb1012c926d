/// A type that reads the structure of one file from its bytes, which may arrive in any number of pieces.
///
/// A scanner is a pure value: the same bytes give the same ``ScannedImage`` however they are split. It decodes no
/// pixels, takes time linear in the number of bytes, and keeps only the list of frames and a bounded amount of metadata
/// in memory.
package protocol Scanning: Sendable {
  /// Everything that has been found so far.
  var image: ScannedImage { get }
  // The most frequently used parts of `image`. Reading them separately avoids copying the rest of `image`.
  var header: ImageHeader? { get }
  var frames: [FrameControl] { get }
  var playCount: PlayCount { get }
  var damage: [Damage] { get }
  /// Whether reading has ended, so that later bytes are ignored.
  var isAtEnd: Bool { get }
  /// Whether no more bytes are needed, because the end marker was read or damage ended the list of frames. Unlike
  /// ``isAtEnd``, this property does not wait for another byte to show whether more data follows.
  var isComplete: Bool { get }
  /// Whether the file's end marker was read: a GIF's trailer, a PNG's IEND.
  var hasEndMarker: Bool { get }
  /// Whether the header is final except for the format, so that frames can be decoded.
  var isCanvasKnown: Bool { get }
  /// The frame whose data is arriving, with the bytes read so far, or nil between frames. The value is valid once the
  /// canvas is known. Whether the frame is independent is not known yet.
  var arrivingFrame: FrameControl? { get }
  /// The number of frames that the file announces, or nil if the file does not announce a number.
  var announcedFrames: Int? { get }
  /// How many of the bytes that come next may be skipped because their values do not matter, or 0 if unknown.
  var skippableByteCount: Int { get }
  /// Skips the next `count` bytes, at most ``skippableByteCount``.
  mutating func skip(_ count: Int)
  /// If the next `count` bytes lie within the piece of pixel data being read, skips them and returns true. Otherwise,
  /// or if the scanner has to act at the end of the piece, does nothing and returns false. Feeding the bytes would have
  /// the same effect, but would cost more per call.
  mutating func passOver(_ count: Int) -> Bool
  /// Feeds the next bytes of the file.
  mutating func feed(_ bytes: borrowing RawSpan) throws(AnimatedImageError)
  /// Drops all frames but the first `count`, before any caller has seen the dropped frames.
  mutating func keepFrames(_ count: Int)
  /// Signals that there are no more bytes.
  mutating func finish() throws(AnimatedImageError)
}

extension Scanning {
  package var header: ImageHeader? { image.header }
  package var frames: [FrameControl] { image.frames }
  package var playCount: PlayCount { image.playCount }
  package var damage: [Damage] { image.damage }
  package var isComplete: Bool { isAtEnd }
  package var announcedFrames: Int? { nil }
  package var skippableByteCount: Int { 0 }
  package mutating func skip(_ count: Int) {}
  package mutating func passOver(_ count: Int) -> Bool { false }
}

/// A collector that assembles a record of known length from bytes that arrive in pieces.
struct ByteCollector: Sendable {
  private(set) var bytes: [UInt8] = []

  /// Appends bytes of `input` to the record, starting at `position`, until the record has `count` bytes. Advances
  /// `position`, and returns whether the record is complete.
  mutating func collect(
    _ count: Int, from input: borrowing RawSpan, at position: inout Int
  ) -> Bool {
    let taken = min(count - bytes.count, input.byteCount - position)
    if taken > 0 {
      bytes.append(copying: input.extracting(position..<position + taken))
      position += taken
    }
    return bytes.count >= count
  }

  /// Reads a number, most significant byte first, and returns nil until the number is complete. If `input` contains the
  /// whole number, it is read without being collected.
  mutating func bigEndian<Number: FixedWidthInteger & BitwiseCopyable>(
    _ type: Number.Type, from input: borrowing RawSpan, at position: inout Int
  ) -> Number? {
    let size = MemoryLayout<Number>.size
    if bytes.isEmpty, position <= input.byteCount - size {
      defer { position += size }
      return Number(bigEndian: input.load(type, at: position))
    }
    guard collect(size, from: input, at: &position) else { return nil }
    return Number(bigEndian: bytes.rawBytes.load(type, at: 0))
  }

  /// Moves the record to `target`, and reuses the memory of `target` for the next record.
  mutating func move(to target: inout [UInt8]) {
    swap(&bytes, &target)
    reset()
  }

  /// Discards the record, so that the next one can be collected.
  mutating func reset() {
    // Most records are read without being collected, and emptying even an empty array costs a call.
    if !bytes.isEmpty { bytes.removeAll(keepingCapacity: true) }
  }
}

/// A tracker that determines for each frame whether its picture depends on the previous contents of the canvas.
///
/// It tracks one fact: whether the canvas is known to be fully transparent before the frame.
struct IndependenceTracker: Sendable {
  private var isClear = true

  /// Adds the next frame and returns whether it is independent.
  ///
  /// - Parameter coversOpaquely: Whether the frame replaces every pixel of the canvas.
  mutating func add(
    rect: PixelRect, canvas: PixelRect, disposal: DisposalMethod, coversOpaquely: Bool
  ) -> Bool {
    // A frame with disposal *previous* reveals the canvas below it to later frames, so decoding cannot start there even
    // if the frame's own picture covers the whole canvas.
    let isIndependent = isClear || coversOpaquely && disposal != .previous
    isClear =
      switch disposal {
      case .keep: isClear && rect.intersection(canvas).isEmpty
      case .background: isClear || rect.contains(canvas)
      case .previous: isClear
      }
    return isIndependent
  }
}

extension String {
  /// Creates a string from Latin-1 bytes.
  init(latin1 bytes: ArraySlice<UInt8>) {
    // The bytes are converted to UTF-8 and decoded in one call. Appending one scalar at a time takes 90 ns per byte,
    // and a small file can inflate to megabytes.
    if bytes.allSatisfy({ $0 < 0x80 }) {
      self.init(decoding: bytes, as: UTF8.self)
      return
    }
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      if byte < 0x80 {
        text.append(byte)
      } else {
        text.append(0xc0 | byte >> 6)
        text.append(0x80 | byte & 0x3f)
      }
    }
    self.init(decoding: text, as: UTF8.self)
  }
}
