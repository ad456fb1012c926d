internal import CZoetrope
internal import Glibc
internal import Synchronization
internal import Zoetrope
internal import ZoetropeShims

// Functions that read arguments from the caller's memory and write results to it.
//
// Unsafe: the addresses come from C. By the header's contract, each address is either NULL, which is checked here, or
// valid for the size that the caller states or for the size of its type. Structs are copied byte by byte, up to the
// size that the caller states, so their alignment does not matter. No address is kept.

/// Runs `body` and returns a status code. If `body` throws, describes the error in `error`. No Swift error leaves this
/// function.
func attempt(
  _ error: UnsafeMutablePointer<zoetrope_error>?, _ body: () throws(AnimatedImageError) -> Void
) -> zoetrope_status {
  do throws(AnimatedImageError) {
    guard !ForkGuard.isForked else {
      throw AnimatedImageError(
        .forked,
        "this process was forked after the library was used: call exec after fork")
    }
    try body()
    return zoetrope_status(ZOETROPE_OK)
  } catch let failure {
    if let error = unsafe error { unsafe write(zoetrope_error(failure), to: error) }
    return failure.status
  }
}

extension zoetrope_error {
  /// Creates the struct that a callback or the caller reads. If `error` is nil, the struct's code is `ZOETROPE_OK`.
  init(_ error: AnimatedImageError?) {
    self.init()
    frame = Int64(error?.frameIndex ?? -1)
    byte_offset = Int64(error?.byteOffset ?? -1)
    code = error?.status ?? zoetrope_status(ZOETROPE_OK)
    fill(&name, with: error?.name ?? "ok")
    system_error = error?.systemError?.rawValue ?? 0
    fill(&message, with: error?.headerDetail ?? "")
    guard let excess = error?.limit else { return }
    limit = Int64(error?.budgetLimit ?? 0)
    limit_found = excess.found == .max ? -1 : Int64(excess.found)
    limit_allowed = Int64(excess.allowed)
  }
}

extension zoetrope_damage {
  init(_ damage: Damage?) {
    self.init()
    frame = Int64(damage?.frameIndex ?? -1)
    byte_offset = Int64(damage?.byteOffset ?? -1)
    valid_rows = Int64(damage?.validRows ?? -1)
    // Return early, because most frames have no damage, and filling in even empty texts takes as long as decoding a
    // small frame.
    guard let damage else { return }
    is_present = 1
    is_tolerated = damage.kind.isTolerated ? 1 : 0
    fill(&kind, with: damage.kind.name)
    fill(&detail, with: damage.detail)
  }
}

extension zoetrope_metadata {
  init(_ item: MetadataItem) {
    self.init()
    kind = item.kind.rawValue
    byte_count = item.value.count
    fill(&key, with: item.key)
  }
}

extension zoetrope_frame {
  init(_ frame: borrowing CompositedFrame, dirty: PixelRect) {
    self.init()
    index = Int64(frame.index)
    dirty_x = Int64(dirty.x)
    dirty_y = Int64(dirty.y)
    dirty_width = Int64(dirty.width)
    dirty_height = Int64(dirty.height)
    damage = zoetrope_damage(frame.damage)
  }
}

/// Writes `text` into an array of `char`, shortened if necessary, with a final NUL.
private func fill<Characters>(_ array: inout Characters, with text: String) {
  unsafe withUnsafeMutableBytes(of: &array) { bytes in
    let utf8 = shortened(Array(text.utf8), to: bytes.count - 1)
    unsafe bytes.copyBytes(from: utf8)
    unsafe bytes[utf8.count] = 0
  }
}

/// Returns the text in an array of `char`, up to its NUL.
///
/// - Throws: `parameter` if the text is not UTF-8, or if the array contains no NUL.
func text<Characters: BitwiseCopyable>(
  _ array: Characters, _ name: StaticString
) throws(AnimatedImageError) -> String {
  let bytes = unsafe withUnsafeBytes(of: array) { unsafe [UInt8]($0) }
  guard let end = bytes.firstIndex(of: 0),
    let text = String(validating: bytes[..<end], as: UTF8.self)
  else {
    throw AnimatedImageError(.parameter, "\(name) is not NUL-terminated UTF-8")
  }
  return text
}

/// Returns `utf8`, shortened with an ellipsis in the middle if it has more than `room` bytes. Characters are not split.
/// The end is kept, because a message with a long path states the reason after the path.
private func shortened(_ utf8: [UInt8], to room: Int) -> [UInt8] {
  guard utf8.count > room else { return utf8 }
  let ellipsis = Array("…".utf8)
  var head = (room - ellipsis.count) / 2
  var tail = utf8.count - (room - ellipsis.count - head)
  while head > 0, utf8[head] & 0xc0 == 0x80 { head -= 1 }
  while tail < utf8.count, utf8[tail] & 0xc0 == 0x80 { tail += 1 }
  return utf8[..<head] + ellipsis + utf8[tail...]
}

/// Writes `value` to `pointer`, unless `pointer` is NULL.
func write<Value>(_ value: Value, to pointer: UnsafeMutablePointer<Value>?) {
  guard let pointer = unsafe pointer else { return }
  unsafe withUnsafeBytes(of: value) { bytes in
    guard let start = bytes.baseAddress else { return }
    unsafe memcpy(UnsafeMutableRawPointer(pointer), start, bytes.count)
  }
}

/// Wraps an address, or C functions and their context. The header's contract allows the value to be used on any thread.
@safe
struct Promised<Value>: @unchecked Sendable {
  // Sendable: the value is only copied. The memory or the functions that it points to are read atomically, called on
  // threads that the header names, or written by one thread at a time. Each use documents which of these applies.
  @unsafe let value: Value

  @unsafe init(_ value: Value) { unsafe self.value = value }
}

/// A flag in the caller's memory, which another thread or a signal handler may set during a call.
@safe
struct CallerFlag {
  /// The address of the flag. The flag is read until the call returns.
  private let address: Promised<UnsafePointer<Int32>>

  /// Creates the flag, or returns nil if `address` is NULL.
  init?(_ address: UnsafePointer<Int32>?) {
    guard let address = unsafe address else { return nil }
    unsafe self.address = Promised(address)
  }

  var isRaised: Bool { unsafe zt_is_raised(address.value) }
}

/// Returns `pointer`.
///
/// - Throws: `parameter` if `pointer` is NULL.
func required<Pointer>(
  _ pointer: Pointer?, _ name: StaticString
) throws(AnimatedImageError) -> Pointer {
  guard let pointer else { throw AnimatedImageError(.parameter, "\(name) is NULL") }
  return pointer
}

/// Returns the object that a C handle points to.
func object<Object: AnyObject>(
  _ handle: OpaquePointer?, _ type: Object.Type, _ name: StaticString
) throws(AnimatedImageError) -> Object {
  let handle = try unsafe required(handle, name)
  return unsafe Unmanaged<Object>.fromOpaque(UnsafeRawPointer(handle)).takeUnretainedValue()
}

/// Returns a C handle that owns `object`.
func handle(owning object: some AnyObject) -> OpaquePointer {
  unsafe OpaquePointer(Unmanaged.passRetained(object).toOpaque())
}

/// Consumes a C handle and returns its object, or nil if the handle is NULL.
func release<Object: AnyObject>(_ handle: OpaquePointer?, _ type: Object.Type) -> Object? {
  guard let handle = unsafe handle else { return nil }
  return unsafe Unmanaged<Object>.fromOpaque(UnsafeRawPointer(handle)).takeRetainedValue()
}

/// The caller's memory for frames, which has been checked to be large enough for a request.
///
/// One thread at a time writes to the memory, in `DecodingCalls.write`. No thread writes to it after the call has
/// returned.
@safe
struct PixelTarget {
  private let pixels: Promised<UnsafeMutableRawPointer>
  private let frames: Promised<UnsafeMutablePointer<zoetrope_frame>?>
  private let bytesPerRow: Int
  private let bytesPerFrame: Int
  private let request: FrameRequest

  /// Checks that `buffer` has room for `count` frames of `request`.
  ///
  /// - Parameter frames: The array of `count` elements to which descriptions of the decoded frames are written, or nil.
  /// - Throws: `parameter` if `count` frames do not fit into the memory.
  init(
    _ buffer: UnsafePointer<zoetrope_buffer>?,
    _ frames: UnsafeMutablePointer<zoetrope_frame>? = nil,
    for request: FrameRequest, count: Int
  ) throws(AnimatedImageError) {
    unsafe self.frames = Promised(frames)
    let source = try unsafe required(buffer, "buffer")
    let buffer = unsafe UnsafeRawPointer(source).loadUnaligned(as: zoetrope_buffer.self)
    unsafe pixels = Promised(try required(buffer.pixels, "buffer.pixels"))
    // A `size_t` may be larger than the largest `Int`.
    let capacity = unsafe UInt(bitPattern: buffer.byte_count)
    let row = request.bytesPerRow
    bytesPerRow = unsafe buffer.bytes_per_row == 0 ? row : buffer.bytes_per_row
    guard bytesPerRow >= row else {
      throw AnimatedImageError(
        .parameter,
        "buffer.bytes_per_row is \(UInt(bitPattern: bytesPerRow)), but a row has \(row) bytes")
    }
    guard let frame = Self.extent(request.size.height, bytesPerRow, last: row) else {
      throw AnimatedImageError(
        .parameter, "buffer.bytes_per_row is \(bytesPerRow), which is too large")
    }
    let (whole, overflow) = bytesPerRow.multipliedReportingOverflow(by: request.size.height)
    bytesPerFrame = unsafe buffer.bytes_per_frame == 0 ? whole : buffer.bytes_per_frame
    guard !overflow, bytesPerFrame >= frame || count == 1 else {
      throw AnimatedImageError(
        .parameter,
        "buffer.bytes_per_frame is \(UInt(bitPattern: bytesPerFrame)), but a frame has \(frame) bytes"
      )
    }
    guard let needed = Self.extent(count, bytesPerFrame, last: frame) else {
      throw AnimatedImageError(
        .parameter, "buffer.bytes_per_frame is \(bytesPerFrame), which is too large")
    }
    guard UInt(needed) <= capacity else {
      let frames = count == 1 ? "1 frame needs" : "\(count) frames need"
      throw AnimatedImageError(
        .parameter, "buffer.byte_count is \(capacity), but \(frames) \(needed) bytes")
    }
    self.request = request
  }

  /// Returns the number of bytes that `count` pieces take if they begin `stride` bytes apart and the last one has
  /// `last` bytes. Returns nil on overflow.
  private static func extent(_ count: Int, _ stride: Int, last: Int) -> Int? {
    guard count > 0, stride >= 0 else { return nil }
    let (product, overflow) = (count - 1).multipliedReportingOverflow(by: stride)
    let (sum, overflowAgain) = product.addingReportingOverflow(last)
    return overflow || overflowAgain ? nil : sum
  }

  /// Writes `bitmap`, which is already rendered, and its description `facts` as frame number `place`. The initializer
  /// has checked that the frame fits.
  ///
  /// - Throws: `cancelled` if `call` is cancelled. Cancellation is checked between rows.
  func write(
    _ bitmap: Bitmap, _ facts: zoetrope_frame? = nil, at place: Int = 0, in call: DecodingCall,
    of handle: AnimationHandle
  ) throws(AnimatedImageError) {
    precondition(bitmap.size == request.size && bitmap.format == request.rendering.format)
    let step = max(Self.checkedBytes / max(request.bytesPerRow, 1), 1)
    try handle.calls.write(call) {
      for y in stride(from: 0, to: request.size.height, by: step) {
        if call.isCancelled { return }
        write(bitmap, rows: y..<min(y + step, request.size.height), at: place)
      }
      if let frames = unsafe frames.value, let facts {
        unsafe ZoetropeC.write(facts, to: frames + place)
      }
    }
  }

  /// The number of bytes that are written between two checks for cancellation. Writing them takes less than a
  /// millisecond.
  private static let checkedBytes = 1 << 20

  private func write(_ bitmap: Bitmap, rows: Range<Int>, at place: Int) {
    let frame = unsafe pixels.value + place * bytesPerFrame
    let row = request.bytesPerRow
    let isPacked = request.bytesPerPixel == 3
    let sourceRow = bitmap.bytesPerRow
    unsafe bitmap.bytes.withUnsafeBytes { bytes in
      // The address is never nil, because no canvas has an empty side, and so no bitmap does.
      guard let start = bytes.baseAddress else { return }
      if !isPacked, sourceRow == row, bytesPerRow == row {
        let offset = rows.lowerBound * row
        unsafe memcpy(frame + offset, start + offset, rows.count * row)
        return
      }
      for y in rows {
        let (source, target) = unsafe (start + y * sourceRow, frame + y * bytesPerRow)
        if isPacked {
          // In bounds: this reads a row of the bitmap, and writes a row of the target, which has been checked to fit.
          unsafe zt_pack_rgb(
            source.assumingMemoryBound(to: UInt8.self),
            target.assumingMemoryBound(to: UInt8.self), request.size.width)
        } else {
          unsafe memcpy(target, source, row)
        }
      }
    }
  }
}

/// Writes the first `capacity` bytes of `value` to `target`. If `capacity` is larger than `value`, fills the rest with
/// zeros.
func writePrefix<Value>(_ value: Value, to target: UnsafeMutableRawPointer, _ capacity: Int) {
  unsafe withUnsafeBytes(of: value) { bytes in
    guard let start = bytes.baseAddress else { return }
    unsafe memcpy(target, start, min(capacity, bytes.count))
    if capacity > bytes.count { unsafe memset(target + bytes.count, 0, capacity - bytes.count) }
  }
}

/// Copies up to `capacity` bytes to `target`, and returns the number of bytes copied. `capacity` is a `size_t`, so a
/// value above `Int.max` appears as a negative number here.
func copy(_ bytes: [UInt8], to target: UnsafeMutableRawPointer, capacity: Int) -> Int {
  let count = Int(min(UInt(bitPattern: capacity), UInt(bytes.count)))
  unsafe bytes.withUnsafeBytes { bytes in
    if let start = bytes.baseAddress, count > 0 { unsafe memcpy(target, start, count) }
  }
  return count
}

/// Returns a copy of the `count` numbers at `pointer`.
func numbers(_ pointer: UnsafePointer<Int64>, count: Int) -> [Int64] {
  let start = unsafe UnsafeRawPointer(pointer)
  return (0..<count).map {
    unsafe start.loadUnaligned(fromByteOffset: $0 * MemoryLayout<Int64>.size, as: Int64.self)
  }
}
