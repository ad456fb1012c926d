internal import CZoetrope
internal import Glibc
internal import Zoetrope

// Access to the structs of zoetrope.h that can grow in later versions. In each, the caller states the size of the
// struct that it was compiled with.
//
// Unsafe: the same rules apply as in ForeignMemory.swift. At most the stated size is read or written.

/// A struct that can grow in later versions of the ABI.
protocol GrowingStruct {
  /// The size of the struct in version 1 of the ABI, in bytes. This size never changes. A smaller stated size is a
  /// mistake of the caller, such as the `sizeof` of a pointer.
  static var firstSize: Int { get }
}

extension zoetrope_options: GrowingStruct { static var firstSize: Int { 96 } }
extension zoetrope_reader: GrowingStruct { static var firstSize: Int { 40 } }
extension zoetrope_info: GrowingStruct { static var firstSize: Int { 88 } }
extension zoetrope_frame_info: GrowingStruct { static var firstSize: Int { 88 } }
extension zoetrope_rendering: GrowingStruct { static var firstSize: Int { 40 } }
extension zoetrope_layout: GrowingStruct { static var firstSize: Int { 48 } }
extension zoetrope_store_options: GrowingStruct { static var firstSize: Int { 16 } }
extension zoetrope_stored_frame: GrowingStruct { static var firstSize: Int { 336 } }
extension zoetrope_store_statistics: GrowingStruct { static var firstSize: Int { 64 } }
extension zoetrope_destination: GrowingStruct { static var firstSize: Int { 48 } }
extension zoetrope_writer_options: GrowingStruct { static var firstSize: Int { 144 } }
extension zoetrope_written: GrowingStruct { static var firstSize: Int { 112 } }
extension zoetrope_picture: GrowingStruct { static var firstSize: Int { 56 } }
extension zoetrope_edit: GrowingStruct { static var firstSize: Int { 104 } }
extension zoetrope_playback: GrowingStruct { static var firstSize: Int { 40 } }

/// Reads the struct at `pointer`, which begins with its size. Fields that are not part of the caller's version have the
/// values in `defaults`. If `pointer` is NULL, returns `defaults`.
///
/// - Throws: `parameter` for an impossible size, or if a newer caller has set a field that this library does not know.
func read<Value: GrowingStruct>(
  _ pointer: UnsafePointer<Value>?, over defaults: Value, _ name: StaticString
) throws(AnimatedImageError) -> Value {
  guard let pointer = unsafe pointer else { return defaults }
  let source = unsafe UnsafeRawPointer(pointer)
  return try unsafe element(
    source, size: statedSize(at: source, of: Value.self, name), over: defaults, name)
}

/// Reads the struct of `size` bytes at `source`. Fields that are not part of the caller's version have the values in
/// `defaults`.
///
/// - Throws: `parameter` if a newer caller has set a field that this library does not know.
func element<Value: GrowingStruct>(
  _ source: UnsafeRawPointer, size: Int, over defaults: Value, _ name: StaticString
) throws(AnimatedImageError) -> Value {
  var value = defaults
  let known = MemoryLayout<Value>.size
  unsafe withUnsafeMutableBytes(of: &value) { bytes in
    unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(start: source, count: min(size, known)))
  }
  for offset in known..<max(size, known)
  where unsafe source.load(fromByteOffset: offset, as: UInt8.self) != 0 {
    throw AnimatedImageError(.parameter, "\(name) has a field that this library does not know")
  }
  return value
}

/// Writes `value` to the struct at `pointer`, up to the size that the caller stated in its first field.
func writeSized<Value: GrowingStruct>(
  _ value: Value, to pointer: UnsafeMutablePointer<Value>?, _ name: StaticString
) throws(AnimatedImageError) {
  let target = try unsafe required(pointer, name)
  let size = try unsafe statedSize(at: UnsafeRawPointer(target), of: Value.self, name)
  unsafe withUnsafeBytes(of: value) { bytes in
    let word = MemoryLayout<Int>.size
    let count = min(size, bytes.count)
    // Skip the `size` field, which keeps the caller's value.
    unsafe memcpy(
      UnsafeMutableRawPointer(target) + word, bytes.baseAddress.unsafelyUnwrapped + word,
      count - word)
    if size > bytes.count {
      unsafe memset(UnsafeMutableRawPointer(target) + bytes.count, 0, size - bytes.count)
    }
  }
}

private func statedSize<Value: GrowingStruct>(
  at pointer: UnsafeRawPointer, of type: Value.Type, _ name: StaticString
) throws(AnimatedImageError) -> Int {
  let size = unsafe pointer.loadUnaligned(as: Int.self)
  try check(size, of: type, "\(name).size", name)
  return size
}

/// Checks the size that the caller stated for a struct.
///
/// - Throws: `parameter` if no version of the struct has this size.
func check<Value: GrowingStruct>(
  _ size: Int, of type: Value.Type, _ argument: String, _ name: StaticString
) throws(AnimatedImageError) {
  guard size >= Value.firstSize, size <= 4096 else {
    throw AnimatedImageError(
      .parameter, "\(argument) is \(UInt(bitPattern: size)): set it to sizeof(\(name))")
  }
}
