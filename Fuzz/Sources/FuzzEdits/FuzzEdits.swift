import FuzzSupport

@testable import ZoetropeTestSupport

/// Edits of damaged files: planned and written without a crash, and the result shows the pictures of the source, with
/// the planned delays and copied bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzEdits(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = unsafe FuzzBytes.copy(data, count)
  var random = SplitMix64(seed: FuzzBytes.hash(bytes))
  let problem = RandomEdits.outcome(bytes, random: &random)?.problem
  FuzzBytes.require(problem == nil, problem ?? "")
  return 0
}

/// Keeps the structure of most inputs, whichever format they have.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutateEdits(
  _ data: UnsafeMutablePointer<UInt8>, _ count: Int, _ room: Int, _ seed: CUnsignedInt
) -> Int {
  unsafe FuzzMutator.run(data, count, room, seed: seed) {
    GIFMutation.mutate($1, with: &$0) ?? APNGMutation.mutate($1, with: &$0)
  }
}
