/// The source rows scaled across that the current window of target rows is made of, in both
/// arithmetics, each made when first asked for.
///
/// Bounds: a slot holds `width` target pixels, padded to what ``FixedRows`` reads; a window is
/// at most `slots` rows, so that no two of its rows share a slot.
@unsafe
struct RowRing<Scalar: BlendScalar> {
  private let slots: Int
  private let wordBytes: Int
  private let numberBytes: Int
  private let wordBlock: PixelStorage
  private var numberBlock: PixelStorage?
  private let wideBlock: PixelStorage
  private var numberSourceBlock: PixelStorage?
  private let sourceWidth: Int
  private var wordRows: [Int]
  private var numberRows: [Int]

  init(slots: Int, width: Int, sourceWidth: Int) {
    unsafe self.slots = slots
    unsafe wordBytes = (width + 15) / 8 * 8 * 8
    unsafe numberBytes = width * MemoryLayout<SIMD4<Scalar>>.stride
    unsafe wordBlock = unsafe PixelStorage(byteCount: wordBytes * slots)
    unsafe wideBlock = PixelStorage(byteCount: (sourceWidth + 16) * 8)
    unsafe self.sourceWidth = sourceWidth
    unsafe wordRows = [Int](repeating: -1, count: slots)
    unsafe numberRows = [Int](repeating: -1, count: slots)
  }

  /// A source row as 16-bit channels.
  var wideSource: UnsafeMutableRawPointer { unsafe wideBlock.baseAddress }

  /// A decoded source row.
  var numberSource: UnsafeMutablePointer<SIMD4<Scalar>> {
    mutating get {
      let bytes = unsafe sourceWidth * MemoryLayout<SIMD4<Scalar>>.stride
      let block = unsafe numberSourceBlock ?? PixelStorage(byteCount: bytes, zeroed: false)
      unsafe numberSourceBlock = block
      return unsafe block.baseAddress.assumingMemoryBound(to: SIMD4<Scalar>.self)
    }
  }

  /// Whether source row `row` is there in 16 bits; from now on it is taken to be.
  mutating func hasWords(_ row: Int) -> Bool {
    let had = unsafe wordRows[row % slots] == row
    unsafe wordRows[row % slots] = row
    return had
  }

  /// As ``hasWords(_:)``, for numbers.
  mutating func hasNumbers(_ row: Int) -> Bool {
    let had = unsafe numberRows[row % slots] == row
    unsafe numberRows[row % slots] = row
    return had
  }

  func words(_ row: Int) -> UnsafeMutableRawPointer {
    unsafe wordBlock.baseAddress + row % slots * wordBytes
  }

  mutating func numbers(_ row: Int) -> UnsafeMutablePointer<SIMD4<Scalar>> {
    let block =
      unsafe numberBlock ?? PixelStorage(byteCount: numberBytes * slots, zeroed: false)
    unsafe numberBlock = block
    return unsafe (block.baseAddress + row % slots * numberBytes)
      .assumingMemoryBound(to: SIMD4<Scalar>.self)
  }
}
