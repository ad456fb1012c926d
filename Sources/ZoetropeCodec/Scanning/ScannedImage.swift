/// Everything that a scanner has found in a file so far.
package struct ScannedImage: Sendable, Hashable {
  /// The file's header, or nil until it is read.
  package var header: ImageHeader?
  /// The frames whose data is complete, in order.
  package var frames: [FrameControl] = []
  /// The frame in whose data the file ends, or nil. Only decoding shows whether the pixels of this frame are complete.
  package var cutFrame: FrameControl?
  /// PNG: the static image for readers without animation support, or nil if there is none or if it is also a frame.
  package var staticImage: FrameControl?
  /// The loop count as stored (repeats in GIF, plays in APNG), or nil if the file has none.
  package var storedLoopCount: UInt32?
  package var metadata = AnimationMetadata()
  package var damage: [Damage] = []
  /// The number of bytes of the file consumed so far.
  package var byteCount = 0

  package init() {}

  /// Whether the data ended before the file's end marker. If so, the early end is the cause of any damage noted at
  /// offset ``byteCount``.
  package var isCut: Bool { damage.contains { $0.kind.isEarlyEnd } }

  /// Records a deviation. Once a thousand deviations are recorded, only two kinds are added: an early end, and, up to a
  /// total of two thousand, deviations that lose something. Otherwise a file of empty blocks could produce any number
  /// of deviations and hide a lost frame among them.
  ///
  /// - Parameter detail: A clause for the report. It is evaluated only if the deviation is recorded, because building
  ///   the text takes longer than reading a block.
  package mutating func note(
    _ kind: Damage.Kind, _ detail: @autoclosure () -> String, frame: Int? = nil, at offset: Int
  ) {
    let isKept = kind.isRefusedByStrict && damage.count < 2000 || kind.isEarlyEnd
    guard damage.count < 1000 || isKept else { return }
    damage.append(Damage(kind, detail(), frameIndex: frame, byteOffset: offset))
  }
}

extension Damage.Kind {
  /// Whether this kind means that the data ends before the end marker. An early end is noted at most once per image.
  fileprivate var isEarlyEnd: Bool { self == .missingTrailer || self == .cutBlock }
}

extension [UInt8] {
  /// The colours of a palette of three-byte entries, as opaque words.
  var paletteWords: [UInt32] {
    stride(from: 0, to: count - 2, by: 3).map {
      RGBA(red: self[$0], green: self[$0 + 1], blue: self[$0 + 2]).word
    }
  }

  /// Returns the 16-bit number at `offset`, least significant byte first (GIF).
  func littleEndian16(at offset: Int) -> UInt16 {
    UInt16(self[offset]) | UInt16(self[offset + 1]) << 8
  }

  /// Returns the 16-bit number at `offset`, most significant byte first (PNG).
  func bigEndian16(at offset: Int) -> UInt16 {
    UInt16(self[offset]) << 8 | UInt16(self[offset + 1])
  }

  /// Returns the 32-bit number at `offset`, most significant byte first (PNG).
  func bigEndian32(at offset: Int) -> UInt32 {
    UInt32(bigEndian16(at: offset)) << 16 | UInt32(bigEndian16(at: offset + 2))
  }
}
