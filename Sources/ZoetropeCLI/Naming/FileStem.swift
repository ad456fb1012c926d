/// The part of an input's name that goes into the names of its outputs.
enum FileStem {
  /// The last component of `path`, by default without its extension, safe as part of a file name.
  ///
  /// No byte of it can leave the directory or steer a terminal: slashes, NUL and control bytes
  /// become `_`, and a name of dots alone, which would mean a directory, becomes `_` too. Bytes past
  /// ASCII stay, whatever encoding they are in.
  static func of(_ path: [UInt8], keepingExtension: Bool = false) -> [UInt8] {
    var name = path.split(separator: UInt8(ascii: "/")).last.map(Array.init) ?? []
    if !keepingExtension, let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0 {
      name.removeSubrange(dot...)
    }
    for index in name.indices where name[index] < 0x20 || name[index] == 0x7f { name[index] = 0x5f }
    if name.allSatisfy({ $0 == UInt8(ascii: ".") }) { return [UInt8(ascii: "_")] }
    // 255 bytes is what file systems allow; numbers and extension want some of them.
    return Array(name.prefix(200))
  }
}
