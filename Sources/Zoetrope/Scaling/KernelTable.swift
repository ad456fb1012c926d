/// The addresses of a kernel's tables, valid while the kernel's `withTable` runs.
@unsafe
struct KernelTable<Scalar: BlendScalar> {
  let starts: UnsafePointer<Int32>
  let ends: UnsafePointer<Int32>
  /// `taps` for each target pixel.
  let weights: UnsafePointer<Scalar>
  /// `taps / 2` for each target pixel; not to be read when the kernel has no fixed point.
  let pairs: UnsafePointer<UInt32>
  /// `taps` for each target pixel, as ``ProductRows`` takes them; nil when there are none.
  let finePairs: UnsafePointer<UInt32>?
  let taps: Int
}

extension ResamplingKernel {
  /// Runs `body` with the addresses of the tables.
  func withTable<Scalar: BlendScalar, Result>(
    of _: Scalar.Type, _ body: (KernelTable<Scalar>) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result {
    // One word at least, so that there is an address.
    let words = pairs.isEmpty ? [0] : pairs
    let numbers = Scalar.weights(of: self)
    return try unsafe starts.withUnsafeBufferPointer {
      (starts) throws(AnimatedImageError) -> Result in
      try unsafe ends.withUnsafeBufferPointer { (ends) throws(AnimatedImageError) -> Result in
        try unsafe numbers.withUnsafeBufferPointer {
          (numbers) throws(AnimatedImageError) -> Result in
          try unsafe words.withUnsafeBufferPointer {
            (words) throws(AnimatedImageError) -> Result in
            try unsafe finePairs.withUnsafeBufferPointer {
              (fine) throws(AnimatedImageError) -> Result in
              guard let starts = starts.baseAddress, let ends = ends.baseAddress,
                let numbers = numbers.baseAddress, let words = words.baseAddress
              else { preconditionFailure("a kernel has at least one target pixel") }
              return try unsafe body(
                KernelTable(
                  starts: starts, ends: ends, weights: numbers, pairs: words,
                  finePairs: fine.isEmpty ? nil : fine.baseAddress, taps: taps))
            }
          }
        }
      }
    }
  }
}
