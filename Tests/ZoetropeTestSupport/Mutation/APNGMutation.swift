/// Changes an APNG chunk by chunk and repairs checksums and sequence numbers, so that invalid
/// values get past the container: fields of IHDR, acTL and fcTL, rows inside the zlib streams,
/// chunks doubled, dropped, swapped and split.
package enum APNGMutation {
  /// The mutated bytes; nil if they do not begin like a PNG.
  package static func mutate(_ bytes: [UInt8], with mutator: inout ByteMutator) -> [UInt8]? {
    guard var file = PNGChunks(bytes) else { return nil }
    for _ in 0...mutator.below(3) { change(&file, &mutator) }
    if !mutator.one(in: 16) { file.renumber() }
    let broken = mutator.one(in: 16) ? mutator.below(file.chunks.count) : -1
    return file.bytes { $0 == broken }
  }

  private static func change(_ file: inout PNGChunks, _ mutator: inout ByteMutator) {
    guard !file.chunks.isEmpty else { return }
    let index = mutator.below(file.chunks.count)
    switch mutator.below(10) {
    case 0: file.chunks.insert(file.chunks[index], at: mutator.below(file.chunks.count))
    case 1: file.chunks.remove(at: index)
    case 2: file.chunks.swapAt(index, mutator.below(file.chunks.count))
    case 3: split(&file, at: index, &mutator)
    case 4: changeBytes(&file.chunks[index], &mutator)
    case 5, 6: changeField(&file.chunks[index], &mutator)
    default: changeRows(&file, &mutator)
    }
  }

  private static func changeBytes(_ chunk: inout PNGChunks.Chunk, _ mutator: inout ByteMutator) {
    chunk.data = mutator.mutated(chunk.data)
  }

  /// Splits a data chunk in two; in an fdAT, the second part gets a sequence number.
  private static func split(
    _ file: inout PNGChunks, at index: Int, _ mutator: inout ByteMutator
  ) {
    let chunk = file.chunks[index]
    let head = chunk.is("fdAT") ? 4 : 0
    guard chunk.data.count > head else { return }
    let place = head + mutator.below(chunk.data.count - head)
    file.chunks[index].data = Array(chunk.data[..<place])
    let rest = [UInt8](repeating: 0, count: head) + chunk.data[place...]
    file.chunks.insert(PNGChunks.Chunk(type: chunk.type, data: rest), at: index + 1)
  }

  private static func changeField(_ chunk: inout PNGChunks.Chunk, _ mutator: inout ByteMutator) {
    if chunk.is("IHDR"), chunk.data.count == 13, mutator.one(in: 2) {
      let kinds: [(UInt8, UInt8)] = [
        (1, 0), (2, 0), (4, 0), (8, 0), (16, 0), (8, 2), (16, 2), (1, 3), (2, 3), (4, 3), (8, 3),
        (8, 4), (16, 4), (8, 6), (16, 6),
      ]
      (chunk.data[8], chunk.data[9]) = kinds[mutator.below(kinds.count)]
      chunk.data[12] = mutator.one(in: 3) ? 1 : 0
    } else if chunk.is("fcTL"), chunk.data.count == 26, mutator.one(in: 2) {
      chunk.data[24] = UInt8(mutator.below(mutator.one(in: 16) ? 5 : 3))
      chunk.data[25] = UInt8(mutator.below(mutator.one(in: 16) ? 4 : 2))
    } else if chunk.data.count >= 4 {
      let place = 4 * mutator.below(min(chunk.data.count / 4, 5))
      chunk.data.replaceSubrange(
        place..<place + 4, with: PNGChunks.bigEndian(mutator.wildNumber()))
    }
  }

  /// Inflates one picture's data, changes the rows and deflates them again.
  private static func changeRows(_ file: inout PNGChunks, _ mutator: inout ByteMutator) {
    let data = file.chunks.indices.filter {
      file.chunks[$0].is("IDAT") || file.chunks[$0].is("fdAT")
    }
    guard !data.isEmpty else { return }
    let index = data[mutator.below(data.count)]
    let head = file.chunks[index].is("fdAT") ? 4 : 0
    let stream = Array(file.chunks[index].data.dropFirst(head))
    guard var rows = PNGChunks.inflated(stream) else {
      changeBytes(&file.chunks[index], &mutator)
      return
    }
    if mutator.one(in: 3), !rows.isEmpty {
      // As a filter type where one is likely: the first byte, or any.
      rows[mutator.one(in: 2) ? 0 : mutator.below(rows.count)] = UInt8(mutator.below(6))
    } else {
      rows = mutator.mutated(rows, room: mutator.one(in: 4) ? 256 : 1)
    }
    file.chunks[index].data.replaceSubrange(head..., with: PNGChunks.deflated(rows))
  }
}
