/// The graphic control extension (GIF89a section 23), which describes the next image.
///
///     size  field
///        1  flags: bits 2...4 disposal method, bit 0 transparency
///        2  delay in hundredths of a second
///        1  transparent index
struct GIFGraphicControl: Sendable {
  var disposal = DisposalMethod.keep
  var delay = FrameDelay(centiseconds: 0)
  var transparentIndex: UInt8?
  /// Whether the disposal is one of the four reserved values.
  var hasReservedDisposal = false

  init() {}

  /// Reads the first four bytes of the block.
  init(parsing bytes: [UInt8]) {
    self.init(flags: bytes[0], delay: bytes.littleEndian16(at: 1), index: bytes[3])
  }

  init(flags: UInt8, delay: UInt16, index: UInt8) {
    let method = flags >> 2 & 7
    // 4 means "previous" to browsers because an early editor wrote it so; 5 to 7 mean nothing.
    disposal =
      switch method {
      case 2: .background
      case 3, 4: .previous
      default: .keep
      }
    hasReservedDisposal = method > 3
    self.delay = FrameDelay(centiseconds: delay)
    transparentIndex = flags & 1 == 1 ? index : nil
  }
}
