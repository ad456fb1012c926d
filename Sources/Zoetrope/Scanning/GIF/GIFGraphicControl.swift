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
    let method = bytes[0] >> 2 & 7
    // 4 means "previous" to browsers because an early editor wrote it so; 5 to 7 mean nothing.
    disposal =
      switch method {
      case 2: .background
      case 3, 4: .previous
      default: .keep
      }
    hasReservedDisposal = method > 3
    delay = FrameDelay(centiseconds: bytes.littleEndian16(at: 1))
    transparentIndex = bytes[0] & 1 == 1 ? bytes[3] : nil
  }
}
