/// A GIF taken apart: a header with its palette, and blocks of a head and joined data.
struct GIFBlocks {
  struct Block {
    /// An image: separator, descriptor, palette and minimum code size; an extension: its two bytes.
    var head: [UInt8]
    /// The payload of the sub-blocks.
    var data: [UInt8]
    var isImage: Bool { head.first == 0x2c && head.count > 10 }
    var minimumSize: Int { isImage ? Int(head[head.count - 1]) : 2 }
  }

  /// Signature, screen descriptor and global palette.
  var header: [UInt8]
  var blocks: [Block] = []
  /// Everything after the last whole block: usually the trailer.
  var tail: [UInt8]

  /// Nil when there is no whole header.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 13, bytes.starts(with: "GIF".utf8) else { return nil }
    let colors = bytes[10] & 0x80 != 0 ? 6 << Int(bytes[10] & 7) : 0
    guard bytes.count >= 13 + colors else { return nil }
    header = Array(bytes[..<(13 + colors)])
    var position = header.count
    while let (block, end) = Self.block(bytes, at: position) {
      blocks.append(block)
      position = end
    }
    tail = Array(bytes[position...])
  }

  private static func block(_ bytes: [UInt8], at start: Int) -> (Block, Int)? {
    guard start + 2 < bytes.count else { return nil }
    var headCount = 2
    if bytes[start] == 0x2c {
      guard start + 11 < bytes.count else { return nil }
      let flags = bytes[start + 9]
      headCount = 11 + (flags & 0x80 != 0 ? 6 << Int(flags & 7) : 0)
    } else if bytes[start] != 0x21 {
      return nil
    }
    var position = start + headCount
    var data: [UInt8] = []
    while position < bytes.count, bytes[position] != 0 {
      let end = position + 1 + Int(bytes[position])
      guard end < bytes.count else { return nil }
      data += bytes[(position + 1)..<end]
      position = end
    }
    guard position < bytes.count else { return nil }
    return (Block(head: Array(bytes[start..<(start + headCount)]), data: data), position + 1)
  }

  /// The file.
  var bytes: [UInt8] {
    var bytes = header
    for block in blocks {
      bytes += block.head
      var rest = block.data[...]
      while !rest.isEmpty {
        let part = rest.prefix(255)
        bytes.append(UInt8(part.count))
        bytes += part
        rest = rest.dropFirst(part.count)
      }
      bytes.append(0)
    }
    return bytes + tail
  }
}
