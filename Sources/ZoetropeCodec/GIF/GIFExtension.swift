/// An extension block being read: its sub-blocks, as far as somebody may want them.
struct GIFExtension: Sendable {
  let label: UInt8
  /// Where its introducer stands in the file.
  let offset: Int
  /// Sub-blocks begun so far.
  private(set) var blockCount = 0
  private(set) var firstBlockSize = 0
  private var secondBlockSize = 0
  /// The first sub-block: identifier and authentication code of an application extension.
  private(set) var firstBlock: [UInt8] = []
  /// The later sub-blocks joined (for a comment, all of them), up to the limit.
  private(set) var payload: [UInt8] = []
  /// As ``payload`` with the length bytes in it, which is how an XMP packet lies.
  private(set) var rawPayload: [UInt8] = []
  private(set) var payloadSize = 0
  private let byteLimit: Int

  init(label: UInt8, offset: Int, byteLimit: Int) {
    self.label = label
    self.offset = offset
    self.byteLimit = byteLimit
  }

  static let graphicControl: UInt8 = 0xf9
  static let comment: UInt8 = 0xfe
  static let application: UInt8 = 0xff
  static let plainText: UInt8 = 0x01

  /// Decided once, when the first sub-block is over: it is asked for each byte.
  private(set) var isXMP = false
  /// Whether more was there than the limit allows to keep.
  var isCut: Bool { payloadSize > payload.count }

  /// The identifier of an application extension, unprintable bytes replaced.
  var identifier: String { String(decoding: firstBlock, as: UTF8.self) }

  /// Begins a sub-block of `size` bytes.
  mutating func beginBlock(size: Int) {
    blockCount += 1
    if blockCount == 1 { firstBlockSize = size }
    if blockCount == 2 { secondBlockSize = size }
    if blockCount == 2, label == Self.application {
      isXMP = firstBlock == Array("XMP DataXMP".utf8)
    }
    if isXMP, blockCount > 1, rawPayload.count < byteLimit { rawPayload.append(UInt8(size)) }
  }

  /// Takes the next byte of the current sub-block.
  mutating func append(_ byte: UInt8) {
    let belongsToHead = blockCount == 1 && label != Self.comment
    if belongsToHead {
      firstBlock.append(byte)
      return
    }
    payloadSize += 1
    guard payload.count < byteLimit, label == Self.comment || label == Self.application else {
      return
    }
    payload.append(byte)
    if isXMP, rawPayload.count < byteLimit { rawPayload.append(byte) }
  }

  /// The XMP packet without the 257 bytes of "magic trailer" that let plain readers skip it.
  var xmpPacket: String {
    let trailer = 257
    var packet = rawPayload[...]
    if packet.count >= trailer, packet[packet.count - trailer] == 1 {
      packet = packet.dropLast(trailer)
    }
    return String(decoding: packet, as: UTF8.self)
  }

  /// The loop count of a `NETSCAPE2.0` or `ANIMEXTS1.0` block; nil when it holds none: a sub-block of
  /// three bytes or more that begins with 1.
  var loopCount: UInt32? {
    guard isLoopBlock, secondBlockSize >= 3, payload.count >= 3, payload[0] == 1 else { return nil }
    return UInt32(payload.littleEndian16(at: 1))
  }

  var isLoopBlock: Bool {
    label == Self.application
      && (firstBlock == Array("NETSCAPE2.0".utf8) || firstBlock == Array("ANIMEXTS1.0".utf8))
  }
}
