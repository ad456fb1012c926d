/// A PNG pixel of 1 to 8 bytes. Each byte lies in its own 16-bit lane, whose upper half is zero.
///
/// Unsafe code: the loads and stores below are unchecked. Callers must ensure that every byte that is read or written
/// is valid.
@unsafe
struct PNGPixelLanes {
  var lanes = SIMD8<Int16>.zero

  @inline(always) init() {}
  @inline(always) init(_ lanes: SIMD8<Int16>) { unsafe self.lanes = lanes }

  /// Reads the word that contains a pixel of `size` bytes. For sizes 3 and 6, the word includes the next one or two
  /// bytes, which are never stored.
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

  /// Creates a value with one lane for each byte of `word`, the lowest byte first.
  ///
  /// This initializer and ``word`` use the even half of a vector. The standard library's conversions amount to the same
  /// two instructions, but remain function calls in large loops.
  @inline(always)
  init(word: UInt64) {
    var bytes = SIMD16<UInt8>.zero
    unsafe bytes.evenHalf = unsafeBitCast(word.littleEndian, to: SIMD8<UInt8>.self)
    unsafe self.init(fromBytes: bytes)
  }

  /// The lower halves of the lanes, packed into a word.
  @inline(always) var word: UInt64 {
    unsafe unsafeBitCast(bytes.evenHalf, to: UInt64.self).littleEndian
  }

  /// Writes the pixel as a whole word, which has 4 bytes for size 3 and 8 bytes for size 6.
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

  /// Writes exactly `size` bytes of `word`.
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

  /// Adds the bytes of two pixels modulo 256. The upper halves of the lanes stay zero.
  @inline(always)
  static func &+ (left: Self, right: Self) -> Self {
    unsafe Self(fromBytes: left.bytes &+ right.bytes)
  }

  /// Subtracts the bytes of two pixels modulo 256. The upper halves of the lanes stay zero.
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

/// A type that represents the number of bytes per pixel, so that the compiler specialises each filter loop for it.
protocol PNGPixelSize {
  static var byteCount: Int { get }
}

enum PNGPixel1: PNGPixelSize { @inline(always) static var byteCount: Int { 1 } }
enum PNGPixel2: PNGPixelSize { @inline(always) static var byteCount: Int { 2 } }
enum PNGPixel3: PNGPixelSize { @inline(always) static var byteCount: Int { 3 } }
enum PNGPixel4: PNGPixelSize { @inline(always) static var byteCount: Int { 4 } }
enum PNGPixel6: PNGPixelSize { @inline(always) static var byteCount: Int { 6 } }
enum PNGPixel8: PNGPixelSize { @inline(always) static var byteCount: Int { 8 } }
