/// One drawing of a part of a scaled picture: addresses, scratch rows and the order of passes.
///
/// Bounds: `region` lies in the target and holds at least one pixel; windows of its rows and
/// columns lie in the source by construction of the kernels. Scratch rows hold a whole source or
/// target row, rounded up to the padding that ``FixedRows`` asks for.
///
/// A target pixel takes the fixed-point passes when every pixel of its window is opaque, and the
/// blending ones otherwise. That depends on nothing outside of the window, so drawing a part
/// gives the same pixels as drawing all.
@unsafe
struct RegionScaler<Codec: BlendCodec> {
  typealias Scalar = Codec.Scalar
  typealias Rows = BlendRows<Codec>

  let codec: Codec
  let axes: FrameScaler.Axes
  let horizontal: KernelTable<Scalar>
  let vertical: KernelTable<Scalar>
  let source: UnsafeRawPointer
  let sourceStride: Int
  let target: UnsafeMutableRawPointer
  let targetStride: Int
  let region: PixelRect
  /// The source columns that the region is made of.
  let columns: Range<Int>
  /// Whether opacity has to be looked at at all.
  let arithmetic: Arithmetic
  /// Clamps colours to alpha, which filters that overshoot may pass.
  let isPremultiplied: Bool
  var opacity: OpacityMap
  /// The addresses of the rows of one vertical window, padding included.
  var taps: [UnsafeRawPointer]

  enum Arithmetic {
    /// Every pixel in fixed point: no alpha, or colours already multiplied by it.
    case fixed
    /// Every pixel blended.
    case blended
    /// By the opacity of each window.
    case mixed
  }

  init(
    codec: Codec, bitmap: Bitmap, axes: FrameScaler.Axes, horizontal: KernelTable<Scalar>,
    vertical: KernelTable<Scalar>, target: UnsafeMutableRawPointer, targetStride: Int,
    region: PixelRect
  ) {
    unsafe self.codec = codec
    unsafe self.axes = axes
    unsafe self.horizontal = horizontal
    unsafe self.vertical = vertical
    unsafe source = UnsafeRawPointer(bitmap.storage.baseAddress)
    unsafe sourceStride = bitmap.bytesPerRow
    unsafe self.target = target
    unsafe self.targetStride = targetStride
    unsafe self.region = region
    let columns = axes.horizontal.sources(of: region.x..<region.maxX)
    unsafe self.columns = columns
    let isFixed = axes.horizontal.isFixedPoint && axes.vertical.isFixedPoint
    let premultiplied = bitmap.format == .rgba8Premultiplied
    unsafe isPremultiplied = premultiplied
    if !Codec.allowsFixedPoint {
      unsafe arithmetic = .blended
    } else if premultiplied || bitmap.format == .rgbx8 {
      unsafe arithmetic = isFixed ? .fixed : .blended
    } else {
      unsafe arithmetic = isFixed ? .mixed : .blended
    }
    unsafe opacity = OpacityMap(sourceHeight: bitmap.height, columns: columns)
    unsafe taps = unsafe [UnsafeRawPointer](
      repeating: UnsafeRawPointer(target), count: axes.vertical.taps)
  }

  /// Draws the region, asking `isCancelled` before every eighth row.
  mutating func run(isCancelled: () -> Bool) throws(AnimatedImageError) {
    if unsafe axes.verticalFirst {
      try unsafe runVerticalFirst(isCancelled: isCancelled)
    } else {
      try unsafe runHorizontalFirst(isCancelled: isCancelled)
    }
  }

  /// The source rows that target row `y` is made of.
  func sourceRows(of y: Int) -> Range<Int> {
    unsafe Int(vertical.starts[y])..<Int(vertical.ends[y])
  }

  func sourceRow(_ y: Int) -> UnsafeRawPointer { unsafe source + y * sourceStride }

  func targetRow(_ y: Int) -> UnsafeMutableRawPointer { unsafe target + y * targetStride }

  func checkCancelled(at y: Int, _ isCancelled: () -> Bool) throws(AnimatedImageError) {
    if y & 7 == 0, isCancelled() {
      throw AnimatedImageError(.cancelled, "scaling was cancelled")
    }
  }

  /// Bits after the point between the passes, so that both sums end at the same place.
  func fraction(before second: ResamplingKernel) -> Int { FixedRows.sumBits - second.bits }

  /// Finds out which target pixels of a row that is made of source rows `rows` are clear, opaque, or
  /// have to be blended.
  mutating func classify(rows: Range<Int>) {
    let all = unsafe region.x..<region.maxX
    switch unsafe arithmetic {
    case .fixed: unsafe opacity.setRun(all, .opaque)
    case .blended: unsafe opacity.setRun(all, .blended)
    case .mixed:
      let (source, stride, starts, ends) = unsafe (
        source, sourceStride, horizontal.starts, horizontal.ends
      )
      unsafe opacity.classify(
        rows: rows, source: source, stride: stride, starts: starts, ends: ends, range: all)
    }
  }

  /// Makes pixels of target row `y` transparent.
  func clear(_ range: Range<Int>, y: Int) {
    unsafe (targetRow(y) + range.lowerBound * Codec.bytesPerPixel).initializeMemory(
      as: UInt8.self, repeating: 0, count: range.count * Codec.bytesPerPixel)
  }

  /// Lowers colours to alpha in target row `y`.
  func clampToAlpha(y: Int) {
    let row = unsafe targetRow(y)
    for x in unsafe region.x..<region.maxX {
      let pixel = unsafe row + x * 4
      let bytes = unsafe pixel.loadUnaligned(as: SIMD4<UInt8>.self)
      let alpha = bytes[3]
      let lowered = SIMD4<UInt8>(
        min(bytes[0], alpha), min(bytes[1], alpha), min(bytes[2], alpha), alpha)
      unsafe pixel.storeBytes(of: lowered, as: SIMD4<UInt8>.self)
    }
  }
}
