extension GIFBuilder {
  /// Appends an extension with this label and data; an empty block is never written as data.
  public mutating func `extension`(
    label: UInt8, blocks: [[UInt8]], isTerminated: Bool = true
  ) {
    raw([0x21, label])
    for block in blocks { raw(Self.subBlocks(block)) }
    if isTerminated { raw([0]) }
  }

  /// Appends a loop extension: the number of repeats, 0 for forever.
  ///
  /// In a valid one, `byteCount` is 3 and `kind` is 1.
  public mutating func loop(
    _ count: UInt16, application: String = "NETSCAPE2.0", byteCount: Int = 3, kind: UInt8 = 1
  ) {
    let fields = [kind, UInt8(count & 255), UInt8(count >> 8)]
    let size = min(max(byteCount, 0), 255)
    let padded = fields + [UInt8](repeating: 0, count: max(size - 3, 0))
    `extension`(label: 0xff, blocks: [Array(application.utf8), Array(padded.prefix(size))])
  }

  /// Appends a comment extension.
  public mutating func comment(_ text: [UInt8]) { `extension`(label: 0xfe, blocks: [text]) }

  /// Appends an application extension with its payload in sub-blocks.
  public mutating func application(_ identifier: String, payload: [UInt8]) {
    `extension`(label: 0xff, blocks: [Array(identifier.utf8), payload])
  }

  /// Appends a plain text extension: a 1×1 grid of 8×8 cells at the top left, colours 0 and 0.
  public mutating func plainText(_ text: [UInt8]) {
    let header: [UInt8] = [0, 0, 0, 0, 8, 0, 8, 0, 8, 8, 0, 0]
    `extension`(label: 0x01, blocks: [header, text])
  }

  /// Appends an XMP application extension: the packet without sub-block lengths and the *magic trailer*, which leads a
  /// reader that takes it for sub-blocks to the terminator.
  public mutating func xmp(_ packet: [UInt8]) {
    raw([0x21, 0xff, 11])
    raw(Array("XMP DataXMP".utf8))
    raw(packet)
    raw([1])
    raw((0...255).reversed().map { UInt8($0) })
    raw([0])
  }
}
