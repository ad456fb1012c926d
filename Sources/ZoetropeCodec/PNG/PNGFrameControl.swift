/// The fcTL chunk (PNG 3rd edition, 11.3.6.2).
///
///     size  field
///        4  sequence number
///       16  width, height, x offset, y offset
///        4  delay numerator and denominator (0 means 100)
///        2  disposal: 0 none, 1 background, 2 previous; blend: 0 source, 1 over
struct PNGFrameControl: Sendable {
  let rect: PixelRect
  let delay: FrameDelay
  let disposal: DisposalMethod
  let blend: BlendOperation

  /// What is wrong with a chunk.
  struct Fault: Error {
    let detail: String

    init(_ detail: String) { self.detail = "an fcTL " + detail }
  }

  /// Reads the chunk's data.
  ///
  /// - Throws: When it is of another size or number, the rectangle is empty or leaves the canvas, or
  ///   an operation is unknown.
  init(parsing bytes: [UInt8], sequence: Int, canvas: PixelSize) throws(Fault) {
    guard bytes.count == 26 else { throw Fault("of \(bytes.count) bytes, it has 26") }
    let number = Int(bytes.bigEndian32(at: 0))
    guard number == sequence else { throw Fault("numbered \(number), it should be \(sequence)") }
    rect = PixelRect(
      x: Int(bytes.bigEndian32(at: 12)), y: Int(bytes.bigEndian32(at: 16)),
      width: Int(bytes.bigEndian32(at: 4)), height: Int(bytes.bigEndian32(at: 8)))
    guard !rect.isEmpty, PixelRect(canvas).contains(rect) else {
      throw Fault("with a frame of \(rect) in a canvas of \(canvas)")
    }
    delay = FrameDelay(
      numerator: UInt32(bytes.bigEndian16(at: 20)), denominator: UInt32(bytes.bigEndian16(at: 22)))
    switch bytes[24] {
    case 0: disposal = .keep
    case 1: disposal = .background
    case 2: disposal = .previous
    default: throw Fault("with disposal \(bytes[24])")
    }
    switch bytes[25] {
    case 0: blend = .source
    case 1: blend = .over
    default: throw Fault("with blending \(bytes[25])")
    }
  }
}
