/// The IHDR chunk (PNG 3rd edition, 11.2.1).
///
///     size  field
///        4  width, 1 to 2³¹ − 1
///        4  height, the same
///        1  bit depth: 1, 2, 4, 8 or 16
///        1  colour type: 0 grey, 2 RGB, 3 palette, 4 grey + alpha, 6 RGB + alpha
///        1  compression method, 0
///        1  filter method, 0
///        1  interlace method: 0 none, 1 Adam7
struct PNGHeader: Sendable {
  let size: PixelSize
  let bitDepth: UInt8
  let colorType: UInt8
  let isInterlaced: Bool

  /// What is wrong with a chunk.
  struct Fault: Error {
    let detail: String

    init(_ detail: String) { self.detail = detail }
  }

  /// Reads the chunk's data.
  ///
  /// - Throws: When a field has a value that the specification forbids.
  init(parsing bytes: [UInt8]) throws(Fault) {
    guard bytes.count == 13 else { throw Fault("IHDR of \(bytes.count) bytes, it has 13") }
    let width = bytes.bigEndian32(at: 0)
    let height = bytes.bigEndian32(at: 4)
    guard (1...0x7fff_ffff).contains(width), (1...0x7fff_ffff).contains(height) else {
      throw Fault("IHDR declares a picture of \(width)x\(height)")
    }
    size = PixelSize(width: Int(width), height: Int(height))
    bitDepth = bytes[8]
    colorType = bytes[9]
    let depths: [UInt8]
    switch colorType {
    case 0: depths = [1, 2, 4, 8, 16]
    case 3: depths = [1, 2, 4, 8]
    case 2, 4, 6: depths = [8, 16]
    default: throw Fault("IHDR declares colour type \(colorType)")
    }
    guard depths.contains(bitDepth) else {
      throw Fault("IHDR declares colour type \(colorType) with \(bitDepth) bits")
    }
    guard bytes[10] == 0, bytes[11] == 0, bytes[12] <= 1 else {
      throw Fault(
        "IHDR declares compression \(bytes[10]), filtering \(bytes[11]), interlacing \(bytes[12])")
    }
    isInterlaced = bytes[12] == 1
  }
}
