/// Changes a GIF block by block, so that most results are still GIFs: extreme fields, blocks
/// duplicated, dropped and swapped, and image data of mostly valid codes.
package enum GIFMutation {
  /// The mutated bytes; nil if they do not begin like a GIF.
  package static func mutate(_ bytes: [UInt8], with mutator: inout ByteMutator) -> [UInt8]? {
    guard var file = GIFBlocks(bytes) else { return nil }
    for _ in 0...mutator.below(3) { change(&file, &mutator) }
    return file.bytes
  }

  private static func change(_ file: inout GIFBlocks, _ mutator: inout ByteMutator) {
    guard !file.blocks.isEmpty, !mutator.one(in: 8) else {
      changeHeader(&file, &mutator)
      return
    }
    let index = mutator.below(file.blocks.count)
    switch mutator.below(9) {
    case 0: file.blocks.insert(file.blocks[index], at: mutator.below(file.blocks.count))
    case 1: file.blocks.remove(at: index)
    case 2: file.blocks.swapAt(index, mutator.below(file.blocks.count))
    case 3: file.blocks.insert(graphicControl(&mutator), at: index)
    case 4: file.blocks[index].data = mutator.mutated(file.blocks[index].data)
    case 5:
      file.blocks[index].data = codes(&mutator, minimumSize: file.blocks[index].minimumSize)
    default: changeHead(&file.blocks[index], &mutator)
    }
  }

  private static func changeHeader(_ file: inout GIFBlocks, _ mutator: inout ByteMutator) {
    let at = 6 + 2 * mutator.below(2)
    let value = mutator.wildNumber()
    file.header[at] = UInt8(truncatingIfNeeded: value)
    file.header[at + 1] = UInt8(truncatingIfNeeded: value >> 8)
  }

  /// A field of an image descriptor or the bytes of an extension's head.
  private static func changeHead(_ block: inout GIFBlocks.Block, _ mutator: inout ByteMutator) {
    guard block.isImage else {
      block.head = mutator.mutated(block.head, room: 2)
      return
    }
    switch mutator.below(7) {
    case let field where field < 4:
      let value = mutator.wildNumber()
      block.head[1 + 2 * field] = UInt8(truncatingIfNeeded: value)
      block.head[2 + 2 * field] = UInt8(truncatingIfNeeded: value >> 8)
    case 4: block.head[9] ^= 0x40
    case 5: block.head[9] = block.head[9] & 0x78 | UInt8(mutator.below(4)) | 0x80
    default: block.head[block.head.count - 1] = UInt8(mutator.below(13))
    }
  }

  private static func graphicControl(_ mutator: inout ByteMutator) -> GIFBlocks.Block {
    GIFBlocks.Block(
      head: [0x21, 0xf9],
      data: [
        UInt8(mutator.below(8) << 2 | mutator.below(2)), UInt8(mutator.below(12)), 0,
        UInt8(mutator.below(8)),
      ])
  }

  /// Codes packed as an encoder packs them, with growing widths: valid codes, and now and then an
  /// invalid one.
  static func codes(_ mutator: inout ByteMutator, minimumSize: Int) -> [UInt8] {
    let clear = 1 << min(minimumSize, 8)
    var packed: [UInt8] = []
    var bits: UInt32 = 0
    var bitCount = 0
    var width = min(minimumSize, 8) + 1
    var next = clear + 2
    for _ in 0..<mutator.below(mutator.one(in: 16) ? 5000 : 200) {
      var code = mutator.below(min(next, 4096) + (mutator.one(in: 64) ? 2 : 0))
      if code == clear || code == clear + 1, !mutator.one(in: 8) { code = mutator.below(clear) }
      bits |= UInt32(truncatingIfNeeded: code) << UInt32(bitCount)
      bitCount += width
      while bitCount >= 8 {
        packed.append(UInt8(truncatingIfNeeded: bits))
        bits >>= 8
        bitCount -= 8
      }
      if code == clear {
        (width, next) = (min(minimumSize, 8) + 1, clear + 2)
        continue
      }
      if next >= 1 << width, width < 12 { width += 1 }
      next += 1
    }
    if bitCount > 0 { packed.append(UInt8(truncatingIfNeeded: bits)) }
    return packed
  }
}
