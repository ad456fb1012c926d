/// The source rows of the current vertical window as products, each made when first asked for.
///
/// Bounds: a slot holds `width` pixels, padded to the steps of ``ProductRows``; a window is at
/// most `slots` rows, so that no two of its rows share a slot.
@unsafe
struct ProductRing {
  private let slots: Int
  private let rowBytes: Int
  private var block: PixelStorage?
  private var rows: [Int]
  /// The addresses handed out last, in a block that stays where it is.
  private let list: PixelStorage

  init(slots: Int, width: Int) {
    unsafe self.slots = slots
    unsafe rowBytes = (width + 15) / 8 * 8 * 8
    unsafe rows = [Int](repeating: -1, count: slots)
    unsafe list = PixelStorage(byteCount: slots * MemoryLayout<UnsafeRawPointer>.stride)
  }

  /// The addresses of rows `window`, the last one repeated up to `count`; valid until the next
  /// call.
  mutating func addresses(
    _ window: Range<Int>, count: Int, make: (Int, UnsafeMutableRawPointer) -> Void
  ) -> UnsafePointer<UnsafeRawPointer> {
    let base = unsafe (block ?? PixelStorage(byteCount: rowBytes * slots, zeroed: false))
    unsafe block = base
    let pointers = unsafe list.baseAddress.bindMemory(to: UnsafeRawPointer.self, capacity: slots)
    for tap in 0..<count {
      let row = min(window.lowerBound + tap, window.upperBound - 1)
      let address = unsafe base.baseAddress + row % slots * rowBytes
      if unsafe rows[row % slots] != row {
        unsafe make(row, address)
        unsafe rows[row % slots] = row
      }
      unsafe pointers[tap] = UnsafeRawPointer(address)
    }
    return unsafe UnsafePointer(pointers)
  }
}
