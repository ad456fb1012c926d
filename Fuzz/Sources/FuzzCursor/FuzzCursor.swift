import FuzzSupport
import Zoetrope

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// The readers that the scanners and decoders stand on, each against a plain one: collected records,
/// joined GIF sub-blocks, joined PNG chunks, LZW codes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCursor(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var choices = FuzzChoices(unsafe FuzzBytes.copy(data, count))
  switch choices.byte() % 4 {
  case 0: checkCollector(&choices)
  case 1: checkSubBlocks(choices.remainder())
  case 2: checkChunks(choices.remainder())
  default: checkCodes(&choices)
  }
  return 0
}

private func checkCollector(_ choices: inout FuzzChoices) {
  let size = choices.below(64)
  let pieces = (0..<4).map { _ in choices.below(32) }
  let bytes = choices.remainder()
  var collector = ByteCollector()
  var taken = 0
  var fed = 0
  for piece in pieces {
    let end = min(fed + piece, bytes.count)
    var position = 0
    let isDone = collector.collect(
      size, from: unsafe bytes.span.bytes.extracting(fed..<end), at: &position)
    taken += position
    let wanted = min(size, end)
    FuzzBytes.require(collector.bytes == Array(bytes[..<wanted]), "collected \(collector.bytes)")
    FuzzBytes.require(isDone == (wanted == size), "\(wanted) of \(size): \(isDone)")
    fed = end
    if isDone { break }
  }
  FuzzBytes.require(taken == collector.bytes.count, "\(taken) bytes taken")
}

private func checkSubBlocks(_ bytes: [UInt8]) {
  var joined: [UInt8] = []
  // Where each byte of the payload lies in the source.
  var places: [Int] = []
  var position = 0
  var isTerminated = false
  while position < bytes.count {
    let size = Int(bytes[position])
    position += 1
    if size == 0 {
      isTerminated = true
      break
    }
    let end = min(position + size, bytes.count)
    joined += bytes[position..<end]
    places += position..<end
    position = end
  }
  var memory: [UInt8] = []
  unsafe bytes.withUnsafeBytes { source in
    // Nil only if allocating a few hundred bytes fails.
    guard
      let (payload, blocks) = unsafe try? LZWDecoder.join(
        source, in: &memory, { unsafe (Array($0), $1) })
    else { return }
    FuzzBytes.require(payload == joined, "joined \(payload), not \(joined)")
    FuzzBytes.require(blocks.payloadCount == joined.count, "\(blocks)")
    FuzzBytes.require(blocks.sourceCount == position, "\(blocks), not \(position)")
    FuzzBytes.require(blocks.isTerminated == isTerminated, "\(blocks)")
    for (offset, place) in places.enumerated() {
      let found = LZWDecoder.sourceOffset(ofPayload: offset, in: bytes.rawBytes)
      FuzzBytes.require(found == place, "byte \(offset) at \(found), not \(place)")
    }
  }
}

private func checkChunks(_ bytes: [UInt8]) {
  var joined: [UInt8] = []
  var type: ArraySlice<UInt8>?
  var position = 0
  while bytes.count - position >= 8 {
    let length = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
    let name = bytes[position + 4..<position + 8]
    let data = bytes[(position + 8)...].prefix(length)
    if type == nil { type = name }
    if let type, type.elementsEqual(name) {
      joined += type.elementsEqual("fdAT".utf8) ? data.dropFirst(4) : data
    }
    guard bytes.count - position - 8 >= length + 4 else { break }
    position += 12 + length
  }
  var data = PNGStreamAssembler()
  // Twice: what is left of one frame must not show in the next.
  for _ in 0..<2 {
    do { try unsafe data.collect(bytes.span.bytes) } catch { fatalError("\(error)") }
    let stream = data.withBytes(of: bytes.rawBytes) { span in
      (0..<span.byteCount).map { span[$0] }
    }
    FuzzBytes.require(stream == joined, "joined \(stream), not \(joined)")
    FuzzBytes.require(data.count == joined.count, "\(data.count) of \(joined.count)")
  }
}

private func checkCodes(_ choices: inout FuzzChoices) {
  let size = choices.below(9)
  let count = 1 + choices.below(2000)
  let codes = choices.remainder()
  var pixels = [UInt8](
    repeating: 0xa5, count: LZWDecoder.headroom + count + LZWDecoder.slack)
  var expander = LZWDecoder()
  let result = unsafe pixels.withUnsafeMutableBufferPointer { pixels in
    unsafe codes.withUnsafeBytes { codes in
      // The buffer is never empty, so it has an address; the room is what `expand` asks for.
      guard let base = pixels.baseAddress else { fatalError("no buffer") }
      return unsafe expander.expand(
        codes, minimumCodeSize: size, into: base + LZWDecoder.headroom, count: count)
    }
  }
  let (status, output) = PlainLZW.expand(codes, minimumCodeSize: size, count: count)
  FuzzBytes.require(result.status == status, "\(result), not \(status)")
  FuzzBytes.require(
    pixels[LZWDecoder.headroom...].prefix(result.pixelCount).elementsEqual(output),
    "\(result.pixelCount) pixels, not \(output.count), or others")
}
