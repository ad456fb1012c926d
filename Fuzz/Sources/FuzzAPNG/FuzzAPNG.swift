import FuzzSupport

@testable import ZoetropeTestSupport

/// A whole APNG, opened and read as a user would.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAPNG(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  FuzzReading.read(unsafe FuzzBytes.copy(data, count))
  return 0
}

/// Keeps the structure of most inputs: see `APNGMutation`.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutateAPNG(
  _ data: UnsafeMutablePointer<UInt8>, _ count: Int, _ room: Int, _ seed: CUnsignedInt
) -> Int {
  unsafe FuzzMutator.run(data, count, room, seed: seed) { APNGMutation.mutate($1, with: &$0) }
}
