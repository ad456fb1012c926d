/// How many bytes a pixel has, as a type, so that every filter loop is compiled for one number.
protocol PNGPixelSize {
  static var byteCount: Int { get }
}

enum PNGPixel1: PNGPixelSize { @inline(always) static var byteCount: Int { 1 } }
enum PNGPixel2: PNGPixelSize { @inline(always) static var byteCount: Int { 2 } }
enum PNGPixel3: PNGPixelSize { @inline(always) static var byteCount: Int { 3 } }
enum PNGPixel4: PNGPixelSize { @inline(always) static var byteCount: Int { 4 } }
enum PNGPixel6: PNGPixelSize { @inline(always) static var byteCount: Int { 6 } }
enum PNGPixel8: PNGPixelSize { @inline(always) static var byteCount: Int { 8 } }

/// One PNG pixel of 1 to 8 bytes, each byte in a 16-bit lane of its own whose high half is zero.
///
/// Unsafe code: the loads and stores below. Callers promise memory for the bytes that each one names.
@unsafe
struct PNGPixelLanes {
  var lanes = SIMD8<Int16>.zero

  @inline(always) init() {}
  @inline(always) init(_ lanes: SIMD8<Int16>) { unsafe self.lanes = lanes }

  /// Reads the word that holds a pixel of `size` bytes; for 3 and 6 a byte or two of what follows
  /// come along and are never stored.
  @inline(always)
  init(at address: UnsafeRawPointer, size: Int) {
    unsafe self.init(word: Self.word(at: address, size: size))
  }

  @inline(always)
  static func word(at address: UnsafeRawPointer, size: Int) -> UInt64 {
    switch size {
    case 1: unsafe UInt64(address.load(as: UInt8.self))
    case 2: unsafe UInt64(address.loadUnaligned(as: UInt16.self))
    case 3, 4: unsafe UInt64(address.loadUnaligned(as: UInt32.self))
    default: unsafe address.loadUnaligned(as: UInt64.self)
    }
  }

  /// A lane for each byte of `word`, the lowest first.
  ///
  /// By halves, here and in ``word``: the conversions of the standard library mean the same two
  /// instructions, but are left as calls in large loops.
  @inline(always)
  init(word: UInt64) {
    var bytes = SIMD16<UInt8>.zero
    unsafe bytes.evenHalf = unsafeBitCast(word.littleEndian, to: SIMD8<UInt8>.self)
    unsafe self.init(fromBytes: bytes)
  }

  /// The low bytes of the lanes, packed.
  @inline(always) var word: UInt64 {
    unsafe unsafeBitCast(bytes.evenHalf, to: UInt64.self).littleEndian
  }

  /// Writes the pixel as a whole word: 4 bytes for a size of 3, 8 for 6.
  @inline(always)
  func store(at address: UnsafeMutableRawPointer, size: Int) {
    unsafe Self.store(word, at: address, size: size)
  }

  @inline(always)
  static func store(_ word: UInt64, at address: UnsafeMutableRawPointer, size: Int) {
    switch size {
    case 1: unsafe address.storeBytes(of: UInt8(truncatingIfNeeded: word), as: UInt8.self)
    case 2: unsafe address.storeBytes(of: UInt16(truncatingIfNeeded: word), as: UInt16.self)
    case 3, 4: unsafe address.storeBytes(of: UInt32(truncatingIfNeeded: word), as: UInt32.self)
    default: unsafe address.storeBytes(of: word, as: UInt64.self)
    }
  }

  /// Writes `size` bytes and no more.
  @inline(always)
  static func storeExactly(_ word: UInt64, at address: UnsafeMutableRawPointer, size: Int) {
    switch size {
    case 3:
      unsafe store(word, at: address, size: 2)
      unsafe store(word >> 16, at: address + 2, size: 1)
    case 6:
      unsafe store(word, at: address, size: 4)
      unsafe store(word >> 32, at: address + 4, size: 2)
    default: unsafe store(word, at: address, size: size)
    }
  }

  /// Adds byte by byte, modulo 256; the high halves of the lanes stay zero.
  @inline(always)
  static func &+ (left: Self, right: Self) -> Self {
    unsafe Self(fromBytes: left.bytes &+ right.bytes)
  }

  /// Subtracts byte by byte, modulo 256; the high halves of the lanes stay zero.
  @inline(always)
  static func &- (left: Self, right: Self) -> Self {
    unsafe Self(fromBytes: left.bytes &- right.bytes)
  }

  @inline(always) private var bytes: SIMD16<UInt8> {
    unsafe unsafeBitCast(lanes, to: SIMD16<UInt8>.self)
  }

  @inline(always) private init(fromBytes bytes: SIMD16<UInt8>) {
    unsafe self.lanes = unsafeBitCast(bytes, to: SIMD8<Int16>.self)
  }
}
