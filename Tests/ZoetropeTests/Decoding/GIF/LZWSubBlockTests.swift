import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10)), .computes)
struct LZWSubBlockTests {
  static func join(_ source: [UInt8], in payload: inout [UInt8]) throws
    -> ([UInt8], LZWDecoder.Blocks)
  {
    try unsafe source.withUnsafeBytes { source in
      try unsafe LZWDecoder.join(source, in: &payload) { bytes, blocks in
        (unsafe Array(bytes), blocks)
      }
    }
  }

  static func offset(ofPayload offset: Int, in source: [UInt8]) -> Int {
    LZWDecoder.sourceOffset(ofPayload: offset, in: source.rawBytes)
  }

  @Test func `blocks of every length are joined and each byte is found again`() throws {
    var random = SplitMix64(seed: 1)
    var memory: [UInt8] = []
    for round in 0..<200 {
      var source: [UInt8] = []
      var payload: [UInt8] = []
      var offsets: [Int] = []
      for _ in 0..<Int.random(in: 0...12, using: &random) {
        let length = Bool.random(using: &random) ? 255 : Int.random(in: 1...255, using: &random)
        source.append(UInt8(length))
        for _ in 0..<length {
          offsets.append(source.count)
          let byte = UInt8.random(in: 0...255, using: &random)
          payload.append(byte)
          source.append(byte)
        }
      }
      offsets.append(source.count)
      source.append(0)
      let count = source.count
      source += [UInt8](repeating: 9, count: Int.random(in: 0...300, using: &random))
      let (joined, blocks) = try Self.join(source, in: &memory)
      #expect(joined == payload, "round \(round)")
      #expect(blocks.payloadCount == payload.count && blocks.sourceCount == count)
      #expect(blocks.isTerminated && !blocks.isLastBlockCut)
      for i in [0, payload.count / 2, payload.count] {
        #expect(Self.offset(ofPayload: i, in: source) == offsets[i], "round \(round)")
      }
    }
  }

  @Test func `a missing terminator and a truncated block are distinguished`() throws {
    var memory: [UInt8] = []
    let (whole, wholeBlocks) = try Self.join([2, 7, 8], in: &memory)
    #expect(whole == [7, 8] && !wholeBlocks.isTerminated && !wholeBlocks.isLastBlockCut)
    let (cut, cutBlocks) = try Self.join([1, 6, 3, 7, 8], in: &memory)
    #expect(cut == [6, 7, 8] && !cutBlocks.isTerminated && cutBlocks.isLastBlockCut)
    let (none, noBlocks) = try Self.join([], in: &memory)
    #expect(none.isEmpty && !noBlocks.isTerminated && noBlocks.sourceCount == 0)
  }
}
