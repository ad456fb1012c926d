/// The chunks of a PNG file, for looking at what was written.
struct PNGChunkList {
  private(set) var chunks: [(type: String, data: [UInt8])] = []

  init(_ bytes: [UInt8]) {
    var at = 8
    while at + 12 <= bytes.count {
      let count = bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
      guard at + 12 + count <= bytes.count else { return }
      let type = String(decoding: bytes[at + 4..<at + 8], as: UTF8.self)
      chunks.append((type, Array(bytes[at + 8..<at + 8 + count])))
      at += 12 + count
    }
  }
}
