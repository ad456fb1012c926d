public import Zoetrope

/// Writes a PNG chunk by chunk, valid or malformed.
///
/// Nothing is checked and nothing is added: ``bytes`` has only what was requested.
public struct PNGBuilder: Sendable {
  /// The eight bytes that start every PNG.
  public static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

  /// The file so far.
  public private(set) var bytes: [UInt8] = []

  /// An empty file.
  public init() {}

  /// Appends the signature.
  public mutating func signature() { bytes += Self.signature }

  /// Appends a chunk.
  public mutating func chunk(_ chunk: PNGChunk) { bytes += chunk.bytes }

  /// Appends a correct chunk of this type and data.
  public mutating func chunk(_ type: String, _ data: [UInt8] = []) {
    bytes += PNGChunk(type, data).bytes
  }

  /// The data of IHDR.
  public static func header(width: UInt32, height: UInt32, layout: PNGLayout) -> [UInt8] {
    ZlibStream.bigEndian(width) + ZlibStream.bigEndian(height) + [
      UInt8(truncatingIfNeeded: layout.depth), layout.colorType.rawValue, 0, 0,
      layout.isInterlaced ? 1 : 0,
    ]
  }

  /// The data of PLTE.
  public static func palette(_ colors: [RGBA]) -> [UInt8] {
    colors.flatMap { [$0.red, $0.green, $0.blue] }
  }

  /// The data of tRNS for a palette: the alpha of each colour.
  public static func transparency(_ colors: [RGBA]) -> [UInt8] { colors.map(\.alpha) }

  /// Appends these bytes as they are.
  public mutating func raw(_ more: some Sequence<UInt8>) { bytes += more }

  /// Keeps the first `count` bytes; a negative count drops that many from the end.
  public mutating func truncate(to count: Int) {
    bytes.removeLast(
      bytes.count - min(max(count < 0 ? bytes.count + count : count, 0), bytes.count))
  }
}
