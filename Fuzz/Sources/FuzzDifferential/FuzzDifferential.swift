import FuzzSupport
import Zoetrope

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropeTestSupport

/// The fast decoders against giflib and libpng: the same bytes, frame by frame.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDifferential(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = unsafe FuzzBytes.copy(data, count)
  let isDeep = FuzzBytes.hash(bytes) & 7 == 0
  var comparison = DecoderComparison()
  let found = comparison.difference(
    in: bytes, options: DecoderComparison.options(keeps16Bit: isDeep))
  FuzzBytes.require(found == nil, found ?? "")
  return 0
}

/// Keeps the structure of most inputs, whichever format they have.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutateDifferential(
  _ data: UnsafeMutablePointer<UInt8>, _ count: Int, _ room: Int, _ seed: CUnsignedInt
) -> Int {
  unsafe FuzzMutator.run(data, count, room, seed: seed) {
    GIFMutation.mutate($1, with: &$0) ?? APNGMutation.mutate($1, with: &$0)
  }
}
